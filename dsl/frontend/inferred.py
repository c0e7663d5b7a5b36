"""Types of locals that only say a literal at first: ``total = 0.0`` has the type of what is assigned to it further on.

A kernel is read with the types that are known so far, every value that is assigned to such a local is noted, and it is
read again until they are the same:

* floats join to the widest of them, ``f32`` with ``f64`` to ``f64``;
* integers to a signed one that holds every value, of 32 bits at least, as ``int`` has in C;
* truth values alone are ``u1``.

An update such as ``total += x[i] * w[i]`` counts by its operands: how often it runs is not looked at, so that a sum of
``i16`` products is an ``i32``. Fixed point, whose sums need more bits than its terms, is not guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    Const,
    Expr,
    Gather,
    Load,
    Select,
    children,
    walk,
)
from dsl.expressions.literals import literal_type
from dsl.expressions.open_choices import OPEN, Open
from dsl.expressions.result_types import common_float, common_type
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, boolean, f32
from dsl.expressions.values import Value, operand
from dsl.programs.program import Program

Place = tuple[str, int, int]
"""A local by its name and by where it is first assigned; copies of a loop over constants share it."""

_INT = IntType(32)
_MOST_ROUNDS = 32
"""Each of them finds a type of some local; the types of a kernel are few."""


@dataclass(slots=True)
class Inferred:
    """The types that are known, and what this reading of the kernel notes.

    Attributes:
        types: of the places so far.
        noted: the types that were assigned to each place in this reading.
        spans: where the places are.
        places: the place of each such local, by its unique name.
        kept: the places of arrays whose elements stay what they are at first, integers or truth values.
        derived: what other locals contribute whose first value is computed of such ones.
        usual: the float of the kernel's arguments, which floats are where nothing says more.
        has_fixed: whether the kernel names a fixed-point type.
        grown: the places whose types this reading has changed.
        shapes: of the places that are arrays.
    """

    types: dict[Place, DType] = field(default_factory=dict)
    noted: dict[Place, list[DType]] = field(default_factory=dict)
    spans: dict[Place, Span] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    kept: dict[Place, DType] = field(default_factory=dict)
    derived: dict[str, list[DType]] = field(default_factory=dict)
    usual: DType | None = None
    has_fixed: bool = True
    grown: list[Place] = field(default_factory=list)
    shapes: dict[Place, tuple[int, ...]] = field(default_factory=dict)

    def settled(self, read: Callable[[], Program]) -> Program:
        """What ``read`` makes of the kernel once all types are known.

        Raises:
            LanguageError: W129 the type of a local is not clear.
        """
        for _ in range(_MOST_ROUNDS):
            self.noted, self.places, self.derived, self.kept = {}, {}, {}, {}
            try:
                program = read()
            except LanguageError as error:
                if error.code == "W128" and self.grown:  # more bits than types may have
                    raise self._endless() from None
                if not self._changed() and not self._defaulted():
                    if error.code.startswith("W12"):  # types: it may be that of such a local
                        self._check()
                    raise
                continue
            if not self._changed() and not self._defaulted():
                self._check()
                return program
        raise self._endless()

    def _changed(self) -> bool:
        """Whether what this reading noted gives places other types than it was read with."""
        self.grown = []
        for place, noted in self.noted.items():
            before = [self.types[place]] if place in self.types else []
            found = joined([*before, *noted])
            if found is not None and [found] != before:
                self.grown.append(place)
            if found is not None:
                self.types[place] = found
        return bool(self.grown)

    def _endless(self) -> LanguageError:
        """Why types do not settle: what is assigned to a local is wider than the local, however wide that is."""
        place = self.grown[0]
        return LanguageError(
            "W129",
            f"the type of '{place[0]}' is not clear: what it is assigned is computed from it, and always wider",
            span=self.spans[place],
            help=self._said(place, "i32"),
        )

    def _said(self, place: Place, dtype: str) -> str:
        shape = self.shapes.get(place, ())
        extents = f"[{', '.join(map(str, shape))}]" if shape else ""
        return f"say it: {place[0]}: {dtype}{extents} = ..."

    def _defaulted(self) -> bool:
        """Whether a local that is only said to be a float becomes one of the usual type."""
        open_ = [p for p, noted in self.noted.items() if self._is_open(p, noted)]
        if self.usual is None or not open_:
            return False
        self.types[open_[0]] = self.usual  # what others are may follow from it
        return True

    def _is_open(self, place: Place, noted: list[DType]) -> bool:
        known = [*noted, *([self.types[place]] if place in self.types else [])]
        if any(isinstance(t, FixedType) for t in known):
            return False
        return joined(known) is None and any(isinstance(t, Open) for t in known)

    def _check(self) -> None:
        for place, noted in self.noted.items():
            known = [self.types[place]] if place in self.types else []
            if joined([*known, *noted]) is None:
                name = place[0]
                fixed = any(isinstance(t, FixedType) for t in noted)
                what = "fixed point, of unknown bits" if fixed else "a float, of unknown bits"
                raise LanguageError(
                    "W129",
                    f"the type of '{name}' is not clear: it is {what}",
                    span=self.spans[place],
                    help=self._said(place, "fixed[32, 16]" if fixed else "f32"),
                )

        for place, first in self.kept.items():
            found = self.types.get(place, first)
            if found != boolean and (first == boolean or isinstance(found, FloatType)):
                what, instead = "integers", "say its type, as in dtype=np.float32, or assign int(x)"
                if first == boolean:
                    what, instead = "truth values", "say its type, as in dtype=np.int32, or compare"
                raise LanguageError(
                    "W124",
                    f"'{place[0]}' is an array of {what} in NumPy, which converts what is assigned to it",
                    span=self.spans[place],
                    help=instead,
                )

    def keep(self, place: Place, firsts: Sequence[Value]) -> None:
        """Note an array of NumPy's: it takes no floats where its first values are integers, nor integers where these are
        truth values."""
        found = joined([t for first in firsts for t in self._contributions(first)])
        if found == boolean or isinstance(found, IntType):
            self.kept[place] = found

    def declared(self, place: Place, first: Value, span: Span) -> DType:
        """The type of a local whose first value is of literals: as far as it is known, else one to go on with."""
        self.spans[place] = span
        noted = self.noted.setdefault(place, [])
        noted += map(self._meant, self._contributions(first))
        return self.types.get(place) or joined(noted) or f32

    def know(self, array: str, place: Place | None, first: Value | None = None) -> None:
        """Note which local a unique name is; None of one whose type is known, that of its ``first`` value."""
        self.places.pop(array, None)
        self.derived.pop(array, None)
        if place is not None:
            self.places[array] = place
        elif first is not None:
            found = operand(first)
            if not isinstance(found, int | float) and self._depends(found):
                self.derived[array] = [*self._of(found)]

    def contributed(self, value: Expr) -> DType | None:
        """The integer type that a value of such locals contributes to theirs; None of any other value."""
        if not isinstance(value.dtype, IntType) or not self._depends(value):
            return None
        found = joined([*self._of(value)])
        return found if isinstance(found, IntType) else None

    def _depends(self, value: Expr) -> bool:
        """Whether such a local is in a value, or one whose type follows from it."""
        arrays = (e.access.array for e in walk(value) if isinstance(e, Load | Gather))
        return any(a in self.places or a in self.derived for a in arrays)

    def note(self, array: str, value: Value, op: ast.operator | None = None) -> None:
        """Note a value that is assigned to a local, or, of an update by ``op``, what it is updated by."""
        place = self.places.get(array)
        if place is None:
            return
        self.noted[place] += map(self._meant, self._contributions(value))
        if op is not None and not isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
            self.noted[place].append(_INT)

    def _meant(self, dtype: DType) -> DType:
        """The type of the arguments' floats in the place of fixed point that nobody asked for (see `dsl.frontend.fixed_point`)."""
        if self.usual is None or self.has_fixed or not isinstance(dtype, FixedType):
            return dtype
        return self.usual

    def _contributions(self, value: Value) -> Iterator[DType]:
        """The types that a value contributes to that of the local that it is assigned to."""
        found = operand(value)
        if isinstance(found, bool):
            yield boolean
        elif isinstance(found, int):
            yield from (literal_type(found), _INT)
        elif isinstance(found, float):
            yield OPEN
        elif is_of_literals(found):
            yield found.dtype
            yield found.dtype if isinstance(found.dtype, FloatType) else _INT
        else:
            yield from self._of(found)

    def _of(self, value: Expr) -> Iterator[DType]:
        """Of data: its type; where such a local is in it, the types of what it is computed of."""
        if not self._depends(value):
            is_float = isinstance(value, Const) and isinstance(value.dtype, FloatType)
            yield OPEN if is_float else value.dtype
            return
        match value:
            case Load(access=access) | Gather(access=access) if access.array in self.places:
                yield from self._of_place(self.places[access.array])
            case Load(access=access) if access.array in self.derived:
                yield from self.derived[access.array]
            case Cast(dtype=dtype, span=span) if span is not None:
                yield dtype
            case Gather() | Compare():
                yield value.dtype
            case Binary(BinaryOp.AND, lhs, rhs) if (mask := _mask(lhs, rhs)) is not None:
                yield from (literal_type(mask), _INT)
            case Select(then=then, orelse=orelse):
                yield from self._contributions(then)
                yield from self._contributions(orelse)
            case _:
                if value.dtype != boolean:
                    yield _INT
                for part in children(value):
                    yield from self._of(part)

    def _of_place(self, place: Place) -> Iterator[DType]:
        if place in self.types:
            yield self.types[place]


def _mask(lhs: Expr, rhs: Expr) -> int | None:
    """The constant that is not negative among two integers: what both have in common is at most that."""
    for part in (rhs, lhs):
        inner = part.operand if isinstance(part, Cast) and part.span is None else part
        if isinstance(inner, Const) and isinstance(inner.dtype, IntType) and inner.value >= 0:
            return int(inner.value)
    return None


def is_of_literals(value: Value) -> bool:
    """Whether a value is a literal, or a choice between literals: its type says nothing of what a local is for."""
    found = operand(value)
    if isinstance(found, Select):
        return is_of_literals(found.then) and is_of_literals(found.orelse)
    return isinstance(found, int | float | Const)


def joined(types: list[DType]) -> DType | None:
    """The type that holds values of all of these types; None where that is not clear."""
    known = [_INT if isinstance(t, IndexType) else t for t in types]
    if not known or any(isinstance(t, FixedType) for t in known):
        return None
    floats = [t for t in known if isinstance(t, FloatType)]
    if floats:
        sure = [t for t in floats if not isinstance(t, Open)]
        return reduce(common_float, sure) if sure else None
    if all(t == boolean for t in known):
        return boolean
    found: DType = _INT
    for t in known:
        found = common_type(found, t)
    return found
