"""Subscripts that are data: proven to stay inside of their arrays whatever the data are.

An access outside is undefined in C++, and nothing checks it in hardware. So the proof is asked for in
front of everything else: by the ranges of the types, of loop variables and of what locals are given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dsl.errors.errors import LanguageError
from dsl.expressions.expr import Access, Const, Expr, Gather, Scatter, Select, walk
from dsl.expressions.types import DType, IndexType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.programs.pretty_expr import MARK, expr_text
from dsl.programs.program import Array, Storage
from polyhedral.legality.flags import resolved_values
from polyhedral.legality.stored_ranges import StoredRanges
from polyhedral.scop.scop import Scop, Statement

Loops = Mapping[str, Mapping[str, Range]]
"""Ranges of the loop variables around each statement; those of statements that never run are left out."""


def check_data_subscripts(scop: Scop, loops: Loops) -> None:
    """Check every subscript that is data.

    Raises:
        LanguageError: W164 one that is not proven to be inside of the array.
    """
    at_data = [s for s in scop.statements if s.name in loops and any(_elements(s.stmt.value))]
    if not at_data:
        return
    values = resolved_values(scop.program)
    locals_ = _Locals(scop, loops, values)
    for s in at_data:
        for expr in _elements(values[s.name]):
            _check(scop.program.array(expr.access.array), s, expr, locals_)


def _elements(value: Expr) -> Iterator[Gather | Scatter]:
    """What is read and written at data."""
    return (expr for expr in walk(value) if isinstance(expr, Gather | Scatter))


def _check(array: Array, s: Statement, element: Gather | Scatter, locals_: _Locals) -> None:
    data, access = iter(element.data), element.access
    within = access.within(array.shape)
    for dim, (index, extent) in enumerate(zip(access.indices, within, strict=True)):
        if not index.is_data:
            continue
        value = next(data)
        low, high = locals_.range_of(value, s)
        if low >= 0 and high < extent:
            continue
        value = _written(value)
        text = _text(value)
        verb = "write" if isinstance(element, Scatter) else "read"
        raise LanguageError(
            "W164",
            f"subscript {dim} of '{array.name}' is {text}, which may be {low} to {high}",
            span=access.span or s.stmt.span,
            notes=[f"{array.name} is {array.type}: subscript {dim} must be 0 to {extent - 1}"],
            help=_instead(value, low, high, extent, verb),
        )


def _written(value: Expr) -> Expr:
    """The subscript as it is written: a condition on it may have been given 0 for all else."""
    match value:
        case Select(then=then, orelse=Const(value=0)):
            return then
        case _:
            return value


def _instead(value: Expr, low: int, high: int, extent: int, verb: str) -> str:
    """What to write so that it is inside."""
    text = _text(value)
    if extent & (extent - 1) == 0 and extent > 1:
        return (
            f"keep its low bits, ({text}) & {extent - 1}, or {verb} it under a condition, "
            f"if 0 <= {text} < {extent}"
        )
    clamp = text if low >= 0 else f"max({text}, 0)"
    clamp = clamp if high < extent else f"min({clamp}, {extent - 1})"
    return f"write {clamp}, or a remainder, ({text}) % {extent}"


def _text(value: Expr) -> str:
    return expr_text(value).replace(MARK, "")


class _Locals:
    """Ranges of what is read: of locals those of the values they are given, else of the type."""

    def __init__(self, scop: Scop, loops: Loops, values: Mapping[str, Expr]) -> None:
        self.scop, self.loops, self.values = scop, loops, values
        self.known: dict[str, Range | None] = {}  # None while it is being found
        self.recursive: set[str] = set()
        self.least: StoredRanges | None = None

    def range_of(self, value: Expr, s: Statement) -> Range:
        return value_range(value, self.loops[s.name], lambda a, t: self._stored(a, t, s.name))

    def _stored(self, access: Access, dtype: DType, at: str) -> Range:
        whole = type_range(dtype)
        array = self.scop.program.array(access.array)
        if array.storage is Storage.ARGUMENT:
            return whole
        if array.storage is Storage.TABLE:
            return min(array.contents), max(array.contents)
        if array.name not in self.known:
            self.known[array.name] = None
            self.known[array.name] = self._written(array, whole)
        known = self.known[array.name]
        if known is None:
            self.recursive.add(array.name)
        if array.name not in self.recursive:
            return known or whole
        low, high = self._least(access, dtype, at)  # a value of its own values
        return (low, high) if known is None else (max(low, known[0]), min(high, known[1]))

    def _least(self, access: Access, dtype: DType, at: str) -> Range:
        """The least range that holds itself."""
        if self.least is None:
            self.least = StoredRanges(self.scop.program)
        return self.least.stored(access, dtype, at)

    def _written(self, array: Array, whole: Range) -> Range:
        """The least range of all that is written; what is read before it is written is an error."""
        found: Range | None = None
        for s in self.scop.statements:
            if s.stmt.target.array != array.name or s.name not in self.loops:
                continue
            value = self.values[s.name]
            if not isinstance(value.dtype, IntType | IndexType):
                return whole
            low, high = self.range_of(value, s)
            if low < whole[0] or high > whole[1]:
                return whole
            found = (low, high) if found is None else (min(found[0], low), max(found[1], high))
        return whole if found is None else found
