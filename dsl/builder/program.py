"""`weft.Program`: the second front door, for programs that are built by programs.

::

    p = weft.Program("gemm")
    i, j, k = p.loops(i=200, j=220, k=240)
    A, B = p.placeholder("A", f32, (200, 240)), p.placeholder("B", f32, (240, 220))
    C = p.placeholder("C", f32, (200, 220))
    p.compute("S0", (i, j), into=C[i, j], value=0.0)
    p.compute("S1", (i, j, k), into=C[i, j], value=C[i, j] + A[i, k] * B[k, j], after=("S0", j))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

from dsl.arrays.tabulated import tabulated
from dsl.builder.checks import CALLS, check_after, check_fits, check_in_scope, checked_name
from dsl.builder.terms import Condition, Element, LoopVar, Placeholder, affine_of, located, value_of
from dsl.errors.callsite import caller_span
from dsl.errors.errors import LanguageError, did_you_mean
from dsl.errors.shown import shown
from dsl.expressions import values
from dsl.expressions.affine import Affine, cond_variables
from dsl.expressions.elements import assignment
from dsl.expressions.expr import Index, loads, walk
from dsl.expressions.guarded import guarded
from dsl.expressions.types import DTYPES, DType
from dsl.kernels.kernel import Kernel
from dsl.programs.pretty import statement_text
from dsl.programs.program import (
    MAX_EXTENT,
    MAX_STATEMENTS,
    Array,
    If,
    Loop,
    Node,
    Program,
    Stmt,
    Storage,
)
from dsl.programs.scopes import ordered_locals

After = tuple[str, LoopVar | None]
Extent = object
"""An affine term, a number, or a tuple of them: as a lower bound their maximum, as an upper bound
their minimum."""


@dataclass(slots=True)
class _Nest:
    """A loop under construction."""

    loop: Loop
    body: list[_Nest | If | Stmt]


class ProgramBuilder(Kernel):
    """A program under construction; it is a kernel like one from a function.

    Args:
        name: The kernel's name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(checked_name(name, "the kernel"))
        self.__module__ = "dsl.builder.program"
        self._arrays: dict[str, Array] = {}
        self._inside: dict[str, str] = {}
        self._body: list[_Nest | If | Stmt] = []
        self._paths: dict[str, tuple[_Nest, ...]] = {}
        self._span = caller_span()

    # -------------------------------------------------------------------------- loops, arrays

    @CALLS.checked
    @located
    def loops(self, **extents: int | range) -> tuple[LoopVar, ...]:
        """Loop variables over ``0 … extent - 1`` or a `range`, outermost first.

        ``i, j = p.loops(i=200, j=range(1, 219))``
        """
        return tuple(
            self._loop(name, e.start, e.stop, e.step)
            if isinstance(e, range)
            else self._loop(name, 0, e, 1)
            for name, e in extents.items()
        )

    @CALLS.checked
    @located
    def loop(self, name: str, start: Extent, stop: Extent | None = None, step: int = 1) -> LoopVar:
        """A loop variable as ``for name in range(start, stop, step)`` has it.

        The bounds are affine terms of other loop variables: ``p.loop("j", 0, i + 1)``. A tuple is
        a maximum at the lower end and a minimum at the upper: ``p.loop("j", (0, i - 2), (i, 9))``.

        Raises:
            LanguageError: W136 the name, W141 a bound that is not affine, W143 the step.
        """
        return self._loop(name, *((0, start) if stop is None else (start, stop)), step)

    def _loop(self, name: str, start: Extent, stop: Extent, step: int) -> LoopVar:
        checked_name(name, "a loop")
        if type(step) is not int or step == 0 or abs(step) > MAX_EXTENT:
            raise LanguageError("W143", f"the step {shown(step)} is not an integer other than 0")
        first, last = _bounds(name, start), _bounds(name, stop)
        if step < 0:
            first, last = tuple(b + 1 for b in last), tuple(b + 1 for b in first)
        for bound in (*first, *last):
            if abs(bound.const) > MAX_EXTENT:
                message = (
                    f"the bound {values.short(bound)} of loop '{name}' does not fit into 32 bits"
                )
                raise LanguageError("W108", message, help="split the loop into two")
        if abs(step) > 1 and len(first if step > 0 else last) > 1:
            message = f"loop '{name}' with step {step} begins at a single value"
            raise LanguageError("W143", message, help="use step 1 and where=")
        return LoopVar(Loop(name, first, last, step, (), caller_span()))

    @overload
    def placeholder(self, name: str, dtype: DType) -> Element: ...
    @overload
    def placeholder(
        self, name: str, dtype: DType, shape: Sequence[int], const: bool = False
    ) -> Placeholder: ...
    @CALLS.checked
    def placeholder(
        self, name: str, dtype: DType, shape: Sequence[int] = (), const: bool = False
    ) -> Placeholder | Element:
        """An argument: an array, or (without a shape) a scalar, which is a term at once.

        Args:
            name: Its name; arguments are in the order of these calls.
            dtype: The element type.
            shape: The extents.
            const: It is only read.

        Raises:
            LanguageError: W134, W136 the name, W144 the shape.
        """
        return self._declare(name, dtype, shape, Storage.ARGUMENT, const)

    @overload
    def local(self, name: str, dtype: DType, *, inside: LoopVar | None = None) -> Element: ...
    @overload
    def local(
        self, name: str, dtype: DType, shape: Sequence[int], *, inside: LoopVar | None = None
    ) -> Placeholder: ...
    @CALLS.checked
    def local(
        self,
        name: str,
        dtype: DType,
        shape: Sequence[int] = (),
        *,
        inside: LoopVar | None = None,
    ) -> Placeholder | Element:
        """A local array or scalar, on chip and undefined until written.

        Args:
            name: Its name.
            dtype: The element type.
            shape: The extents; none for a scalar.
            inside: The loop in whose body it is declared: each iteration has a fresh one.
        """
        if inside is not None:
            check_fits("inside", inside, LoopVar, "a loop variable")
        declared = self._declare(name, dtype, shape, Storage.LOCAL, False)
        if inside is not None:
            self._inside[name] = inside.name
        return declared

    @located
    def _declare(
        self, name: str, dtype: DType, shape: Sequence[int], storage: Storage, const: bool
    ) -> Placeholder | Element:
        checked_name(name, "an array")
        if name in self._arrays:
            raise LanguageError("W134", f"'{name}' is already declared", help="use another name")
        check_fits("dtype", dtype, DTYPES, "a type such as weft.f32")
        check_fits("const", const, bool, "True or False")
        check_fits("shape", shape, (tuple, list), "a tuple of extents, such as (8, 8)")
        shape = tuple(values.plain(extent) for extent in shape)  # type: ignore[misc]
        for extent in shape:
            if type(extent) is not int or not 1 <= extent <= MAX_EXTENT:
                message = f"the extent {shown(extent)} of '{name}' is not a positive integer"
                instead = f"extents are whole numbers of at most {MAX_EXTENT}"
                raise LanguageError("W144", message, help=instead)
        span = caller_span()
        array = Array(name, dtype, tuple(shape), storage, const, 0, span)
        self._arrays[name] = array
        holder = Placeholder(array)
        return holder if array.shape else holder[()]

    # ------------------------------------------------------------------------------ statements

    @CALLS.checked
    @located
    def compute(
        self,
        name: str | None,
        loops: Sequence[LoopVar],
        into: Element,
        value: object,
        after: After | None = None,
        where: Condition | None = None,
    ) -> str:
        """Add the statement ``into = value`` in ``loops``.

        Args:
            name: The statement's name; None for ``S`` and the number of statements so far.
            loops: The loops around it, outermost first.
            into: The element that is assigned.
            value: A term or a number.
            after: ``("S0", j)`` puts it behind statement S0 in the loops that S0 has up to and
                including ``j``, which come first in ``loops``; ``("S0", None)``, as None, puts
                it into loops of its own behind everything so far.
            where: A condition: it runs only where that holds. One that depends on data chooses
                between the value and the element's own.

        Returns:
            The statement's name.

        Raises:
            LanguageError: what is wrong with it, by the codes of the language.
        """
        span = caller_span()
        self._check_count()
        name = f"S{len(self._paths)}" if name is None or name == "" else name
        checked_name(name, "a statement")
        if name in self._paths:
            raise LanguageError("W137", f"the name '{name}' is taken by another statement")
        self._check_target(into)
        check_fits("loops", loops, (tuple, list), "a tuple of loop variables, such as (i, j)")
        for loop in loops:
            check_fits("loops", loop, LoopVar, "a tuple of loop variables, such as (i, j)")
        if where is not None:
            check_fits("where", where, Condition, "a condition, such as i < j or A[i] > 0")
        stored = values.assigned(value_of(value), into.array.dtype, span)
        _, expr = assignment(into.element, stored)
        if where is not None and where.cond is None:
            expr = guarded(where.truth, expr, into.element)
        stmt = Stmt(name, into.access, expr, span)
        stmt = replace(stmt, source=statement_text(stmt, into.array))
        self._check_names(stmt, loops, where)
        node: If | Stmt = stmt
        if where is not None and where.cond is not None:
            node = If(where.cond, (stmt,), (), span)
        shared = self._shared(after, loops)
        self._insert(name, node, shared, loops)
        return name

    def _check_count(self) -> None:
        if len(self._paths) >= MAX_STATEMENTS:
            raise LanguageError(
                "W108",
                f"the program has more than {MAX_STATEMENTS} statements",
                help="write loops, or build several programs",
            )

    def _check_target(self, into: object) -> None:
        if not isinstance(into, Element):
            message = f"into= is {shown(into)}, not an element of an array"
            raise LanguageError("W107", message, help="write into=A[i, j]")
        array = into.array
        if array.const or (not array.shape and array.storage is Storage.ARGUMENT):
            what = "declared const" if array.const else "a scalar argument"
            raise LanguageError("W135", f"'{array.name}' is {what}, and is only read")

    def _check_names(self, stmt: Stmt, loops: Sequence[LoopVar], where: Condition | None) -> None:
        names = [loop.name for loop in loops]
        for name in names:
            if names.count(name) > 1:
                raise LanguageError("W133", f"two loops around '{stmt.name}' are called '{name}'")
            if name in self._arrays:
                raise LanguageError("W133", f"the loop '{name}' has the name of an array")
        around: set[str] = set()
        for loop in loops:
            used = {v for b in (*loop.loop.lowers, *loop.loop.uppers) for v in b.variables()}
            check_in_scope(used, around, f"the bounds of loop '{loop.name}' use")
            around.add(loop.name)
        accesses = (stmt.target, *loads(stmt.value))
        used = {v for a in accesses for i in a.indices if not i.is_data for v in i.variables()}
        used |= {v for e in walk(stmt.value) if isinstance(e, Index) for v in e.affine.variables()}
        if where is not None and where.cond is not None:
            used |= cond_variables(where.cond)
        check_in_scope(used, around, f"'{stmt.name}' uses")
        for access in accesses:
            if access.array not in self._arrays:
                message = f"'{access.array}' is no array of the program '{self.name}'"
                raise LanguageError("W130", message, help=did_you_mean(access.array, self._arrays))

    def _shared(self, after: After | None, loops: Sequence[LoopVar]) -> tuple[_Nest, ...]:
        """The loops of an earlier statement that the new one joins."""
        if after is None:
            return ()
        check_after(after)
        name, last = after
        if name not in self._paths:
            near = did_you_mean(name, self._paths)
            raise LanguageError("W130", f"there is no statement '{name}' to come after", help=near)
        if last is None:
            return ()
        path = self._paths[name]
        depth = next((n + 1 for n, nest in enumerate(path) if nest.loop.var == last.name), None)
        if depth is None:
            message = f"'{name}' is not in a loop '{last.name}'"
            raise LanguageError("W132", message, help=did_you_mean(last.name, _vars(path)))
        for n, nest in enumerate(path[:depth]):
            if n >= len(loops) or loops[n].loop != replace(nest.loop, body=()):
                message = f"the loop '{nest.loop.var}' of '{name}' is not loop {n + 1} here"
                instead = f"begin loops= with the variables {', '.join(_vars(path[:depth]))} of it"
                raise LanguageError("W133", message, help=instead)
        return path[:depth]

    def _insert(
        self, name: str, node: If | Stmt, shared: tuple[_Nest, ...], loops: Sequence[LoopVar]
    ) -> None:
        path = list(shared)
        for loop in loops[len(shared) :]:
            nest = _Nest(loop.loop, [])
            (path[-1].body if path else self._body).append(nest)
            path.append(nest)
        (path[-1].body if path else self._body).append(node)
        self._paths[name] = tuple(path)

    # --------------------------------------------------------------------------------- result

    def build(self) -> Program:
        """The program so far.

        Raises:
            LanguageError: W131 a local that is used outside of the loop that it is inside of.
        """
        depths = self._local_depths()
        arrays = tuple(replace(a, scope_depth=depths.get(n, 0)) for n, a in self._arrays.items())
        arguments = tuple(a for a in arrays if a.storage is Storage.ARGUMENT)
        own = tuple(a for a in arrays if a.storage is Storage.LOCAL)
        program = Program(self.name, (*arguments, *own), _frozen(self._body), self._span)
        return tabulated(ordered_locals(program))

    def build_in(self, building: tuple[Kernel, ...]) -> Program:
        """See `Kernel.build_in`."""
        return self.build()

    def _local_depths(self) -> Mapping[str, int]:
        homes: dict[str, tuple[_Nest, ...]] = {}
        for stmt, path in _statements(self._body, ()):
            for access in (stmt.target, *loads(stmt.value)):
                inside = self._inside.get(access.array)
                if inside is None:
                    continue
                depth = next((n + 1 for n, p in enumerate(path) if p.loop.var == inside), 0)
                home = homes.setdefault(access.array, path[:depth])
                if not depth or len(home) != depth or home[-1] is not path[depth - 1]:
                    raise LanguageError(
                        "W131",
                        f"'{access.array}' is local to the body of the loop '{inside}'",
                        span=stmt.span,
                        help="declare it without inside=, or in an outer loop",
                    )
        return {name: len(home) for name, home in homes.items()}


def _vars(path: Sequence[_Nest]) -> list[str]:
    return [nest.loop.var for nest in path]


def _bounds(name: str, bound: Extent) -> tuple[Affine, ...]:
    parts = bound if isinstance(bound, tuple) else (bound,)
    return tuple(affine_of(p, f"the bound of loop '{name}'", "W141") for p in parts)


def _frozen(nodes: Sequence[_Nest | If | Stmt]) -> tuple[Node, ...]:
    return tuple(
        replace(n.loop, body=_frozen(n.body)) if isinstance(n, _Nest) else n for n in nodes
    )


def _statements(
    nodes: Sequence[_Nest | If | Stmt], path: tuple[_Nest, ...]
) -> list[tuple[Stmt, tuple[_Nest, ...]]]:
    """Every statement with the loops around it."""
    found: list[tuple[Stmt, tuple[_Nest, ...]]] = []
    for node in nodes:
        match node:
            case Stmt():
                found.append((node, path))
            case If(then=then):
                found += [(s, path) for s in then if isinstance(s, Stmt)]
            case _Nest(body=body):
                found += _statements(body, (*path, node))
    return found
