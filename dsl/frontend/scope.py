"""Names inside of a kernel: arguments, loop variables, and locals with the scope they live in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from dsl.errors.errors import LanguageError, Span, did_you_mean
from dsl.expressions.types import DType, FloatType, int_type_named
from dsl.programs.inline import View
from dsl.programs.program import Array, Storage


@dataclass(frozen=True, slots=True)
class LoopName:
    """A loop variable in scope. ``range`` holds its values, both ends included; ``runs``: the loop may have some."""

    var: str
    span: Span | None
    range: tuple[int, int]
    runs: bool = True


@dataclass(slots=True)
class Scope:
    """The function's body or a loop's: the names declared directly in it."""

    loop: LoopName | None
    arrays: dict[str, Array] = field(default_factory=dict)
    constants: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """A name that was in scope earlier: the loop that it ended with, and where it was declared.

    ``loop`` is None where it ended with the branch of an ``if`` on data. ``array`` is the local that it was.
    """

    loop: str | None
    span: Span | None
    is_loop: bool
    array: Array | None = None

    @property
    def declaration(self) -> str:
        """What declares such a local: its type and a value."""
        if self.array is None:
            return "f32 = 0.0"
        dtype = self.array.dtype
        return f"{self.array.type if self.array.shape else dtype} = {0.0 if isinstance(dtype, FloatType) else 0}"


class Names:
    """The scopes around the statement that is being read, and every local declared so far.

    ``reserved`` are all names that the function binds anywhere: a local that must be renamed (the
    second of two in sibling loops) keeps clear of them. ``arrays`` are those of them that are no
    loop variables. ``of_numbers`` are the tables of Python's integers, whose elements have the narrowest type.
    """

    def __init__(
        self,
        arguments: Iterable[Array],
        reserved: Iterable[str],
        arrays: Iterable[str] = (),
    ) -> None:
        self._scopes = [Scope(None, {a.name: a for a in arguments})]
        self._ended: dict[str, Ended] = {}
        self._taken = set(self._scopes[0].arrays)
        self._reserved = frozenset(reserved)
        self._array_names = frozenset(arrays)
        self._made_loops: set[str] = set()
        self._arrays = dict(self._scopes[0].arrays)
        self.arguments = frozenset(self._scopes[0].arrays)
        self.locals: list[Array] = []
        self.tables: list[Array] = []
        self.of_numbers: set[str] = set()
        self._copied: list[dict[str, object]] = []
        self.free: dict[str, tuple[int, int]] = {}

    @property
    def depth(self) -> int:
        """The number of loops around."""
        return len(self._scopes) - 1

    def loops(self) -> tuple[str, ...]:
        """The loop variables in scope, outermost first."""
        return tuple(s.loop.var for s in self._scopes if s.loop is not None)

    def ranges(self) -> dict[str, tuple[int, int]]:
        """For every loop variable in scope, and those ``free`` in what is read, a range that holds its values."""
        loops = {s.loop.var: s.loop.range for s in self._scopes if s.loop is not None}
        return {**self.free, **loops}

    @property
    def runs(self) -> bool:
        """Whether what is here may run: no loop around is without iterations."""
        return all(s.loop.runs for s in self._scopes if s.loop is not None)

    def find(self, name: str) -> Array | LoopName | None:
        """What a name of the source means here, else None."""
        for scope in reversed(self._scopes):
            if name in scope.arrays:
                return scope.arrays[name]
            if scope.loop is not None and scope.loop.var == name:
                return scope.loop
        return None

    def constant(self, name: str) -> object:
        """The number that a name of the source stands for here, else None."""
        for scope in reversed(self._scopes):
            if name in scope.constants:
                return scope.constants[name]
        return None

    def constants(self) -> dict[str, object]:
        """What every name stands for that is no array and no loop variable."""
        return {name: found for s in self._scopes for name, found in s.constants.items()}

    def bind(self, name: str, number: object) -> None:
        """Let a name stand for a number in the innermost scope."""
        self._scopes[-1].constants[name] = number

    def can_bind(self, name: str) -> bool:
        """Whether a name may stand for a part of an array from here on: it stands for none in what is around, which the
        next iteration would begin with.
        """
        outside = [s.constants for s in self._scopes[:-1]] + self._copied
        return not any(name in constants for constants in outside)

    def has_parts(self, array: str) -> bool:
        """Whether a name stands for a part of the array of that unique name, or for all of it."""
        bound = (found for s in self._scopes for found in s.constants.values())
        return any(isinstance(found, View) and found.array == array for found in bound)

    @contextmanager
    def copy(self, constants: Mapping[str, object], what: str, span: Span) -> Iterator[None]:
        """A copy of the body of a loop over constants: what it declares ends with it, as the constants do.

        Raises:
            LanguageError: W133 where one of their names is taken.
        """
        for name in constants:
            if self.find(name) is not None:
                raise LanguageError(
                    "W133",
                    f"the loop variable '{name}' has the name of something else",
                    span=span,
                    help="give the loop another name",
                )
        scope = self._scopes[-1]
        arrays, before = dict(scope.arrays), dict(scope.constants)
        scope.constants.update(constants)
        self._copied.append(before)
        try:
            yield
        finally:
            self._copied.pop()
            for name in scope.arrays.keys() - arrays.keys():
                array = scope.arrays.pop(name)
                self._ended[name] = Ended(what, array.span, False, array)
            scope.constants = before

    def array(self, unique: str) -> Array | None:
        """The argument or local of that unique name, whatever the source calls it, else None."""
        return self._arrays.get(unique)

    def visible(self) -> set[str]:
        """Every name in scope."""
        found = {name for scope in self._scopes for name in scope.arrays}
        return found | set(self.loops())

    def enter(self, loop: LoopName) -> None:
        """Open a loop.

        Raises:
            LanguageError: W133 where the name is taken by a loop around or by an array.
        """
        match self.find(loop.var):
            case LoopName(span=span):
                raise LanguageError(
                    "W133",
                    f"the loop variable '{loop.var}' is already that of a loop around it{_at(span)}",
                    span=loop.span,
                    help="give the inner loop another name",
                )
            case Array(span=span):
                raise LanguageError(
                    "W133",
                    f"the loop variable '{loop.var}' has the name of an array or scalar{_at(span)}",
                    span=loop.span,
                    help="give the loop another name",
                )
        if loop.var in self._taken:
            raise LanguageError(
                "W133",
                f"the loop variable '{loop.var}' has the name of an array or scalar",
                span=loop.span,
                help="give the loop another name",
            )
        self._scopes.append(Scope(loop))

    def leave(self) -> None:
        """Close the innermost loop and end what it declared."""
        scope = self._scopes.pop()
        assert scope.loop is not None
        loop = scope.loop
        for name, array in scope.arrays.items():
            self._ended[name] = Ended(loop.var, array.span, False, array)
        self._ended[loop.var] = Ended(loop.var, loop.span, is_loop=True)

    def declare(self, array: Array) -> Array:
        """Declare a local in the innermost scope; it comes back with its unique name, which is not that of a loop of
        the function.

        Raises:
            LanguageError: W134 where the name is in scope already.
        """
        earlier = self.find(array.name)
        if earlier is not None:
            raise self._taken_error(array, earlier)
        name = self.unique(array.name, own=array.name in self._array_names)
        unique = replace(array, name=name, scope_depth=self.depth)
        self._scopes[-1].arrays[array.name] = unique
        self._add(unique)
        return unique

    def made_array(
        self, base: str, dtype: DType, shape: tuple[int, ...], span: Span | None
    ) -> Array:
        """An array of the innermost scope that the source does not write: ``base`` or a name like it."""
        array = Array(self.unique(base), dtype, shape, Storage.LOCAL, False, self.depth, span)
        self._add(array)
        return array

    def made(
        self, base: str, dtype: DType, span: Span | None, reserved: str | None = None
    ) -> Array:
        """A scalar of the innermost scope that the source does not write: ``base`` or a name like it.

        ``reserved`` is its name where `unique` gave it before.
        """
        name = reserved or self.unique(base)
        array = Array(name, dtype, (), Storage.LOCAL, False, self.depth, span)
        self._scopes[-1].arrays[array.name] = array
        self._add(array)
        return array

    def table(
        self,
        base: str,
        dtype: DType,
        shape: tuple[int, ...],
        contents: tuple[int, ...],
        span: Span | None,
    ) -> Array:
        """A table of constants: one that is there already with the same contents, else a new one."""
        for known in self.tables:
            if (known.dtype, known.shape, known.contents) == (dtype, shape, contents):
                return known
        name = self.unique(base)
        array = Array(name, dtype, shape, Storage.TABLE, True, 0, span, contents)
        self.tables.append(array)
        self._arrays[name] = array
        return array

    def add_unnamed(self, array: Array) -> None:
        """Note a local that came from an inlined kernel: no name of the source refers to it."""
        self._taken.add(array.name)
        self._add(array)

    def _add(self, array: Array) -> None:
        self.locals.append(array)
        self._arrays[array.name] = array

    def dtype_of(self, array: str) -> DType:
        """The element type of an argument or local by its unique name."""
        return self._arrays[array].dtype

    def end_branch(self, arrays: Collection[str]) -> None:
        """End these locals (by unique name), which only one branch of an ``if`` on data declares."""
        held = self._scopes[-1].arrays
        for name in [name for name, array in held.items() if array.name in arrays]:
            array = held.pop(name)
            self._ended[name] = Ended(None, array.span, False, array)

    def unique(self, name: str, *, own: bool = False) -> str:
        """``name``, or the first of ``name_2``, ``name_3``, … that is free; it is taken then.

        Args:
            name: The name that is wanted.
            own: It is a name of this function's source, so that may have reserved it itself.
        """
        result, number = name, 1
        while (
            result in self._taken
            or result in self._made_loops
            or (result in self._reserved and not (own and result == name))
        ):
            number += 1
            result = f"{name}_{number}"
        self._taken.add(result)
        return result

    def unique_loop(self, name: str, around: Collection[str]) -> str:
        """``name``, or the first of ``name_2``, … that a loop inside of ``around`` can have."""
        result, number = name, 1
        while result in around or result in self._taken or result in self._reserved:
            number += 1
            result = f"{name}_{number}"
        self._made_loops.add(result)
        return result

    def is_array(self, name: str) -> bool:
        """Whether an array or scalar has this name, here or further down in the function."""
        return name in self._taken or name in self._array_names

    def _taken_error(self, array: Array, earlier: Array | LoopName) -> LanguageError:
        name = array.name
        if isinstance(earlier, LoopName):
            what = f"the variable of the loop{_at(earlier.span)}"
        elif name in self.arguments:
            what = "an argument of the kernel"
        else:
            what = f"already declared{_at(earlier.span)}"
        return LanguageError(
            "W134",
            f"'{name}' is {what}",
            span=array.span,
            help="give the local another name, or assign without a type to keep its declaration",
        )

    def missing(self, name: str, span: Span, known: Iterable[str], *, bound: bool) -> LanguageError:
        """Why a name means nothing here.

        Args:
            name: The name.
            span: Where it is used.
            known: Names outside of the function, for a suggestion.
            bound: The function itself assigns it somewhere.
        """
        dtype = int_type_named(name)
        if dtype is not None and bound and name not in self._array_names:
            return LanguageError(
                "W132",
                f"'{name}' is a loop variable of this kernel, and hides the type of that name",
                span=span,
                help=f"write weft.{name} for the type",
            )
        ended = self._ended.get(name)
        if ended is not None and ended.is_loop:
            return LanguageError(
                "W132",
                f"the loop variable '{name}' is used outside of its loop{_at(ended.span)}",
                span=span,
                help="a loop variable has no value after its loop; write the last one as a number",
            )
        if ended is not None and ended.loop is None:
            return LanguageError(
                "W131",
                f"'{name}' is declared in one branch of an 'if' on data{_at(ended.span)}, and has "
                "no value after it",
                span=span,
                help=f"declare it before the 'if', with its type: {name}: {ended.declaration}",
            )
        if ended is not None:
            return LanguageError(
                "W131",
                f"'{name}' is local to the body of the loop '{ended.loop}': it is declared "
                f"there{_at(ended.span)} and ends with each iteration",
                span=span,
                help=f"declare it before the loop, with its type: {name}: {ended.declaration}",
            )
        if bound:
            return LanguageError(
                "W131",
                f"'{name}' is used before it is assigned",
                span=span,
                help=f"declare it first, with its type: {name}: f32 = 0.0",
            )
        near = did_you_mean(name, [*self.visible(), *known])
        is_near = near is not None and near.startswith("did you mean")
        return LanguageError(
            "W130",
            f"unknown name '{name}'",
            span=span,
            help=near if is_near else did_you_mean(name, self.visible()),
        )


def _at(span: Span | None) -> str:
    return f" (line {span.line})" if span else ""
