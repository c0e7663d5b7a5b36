"""Ranges of integer values: what proves that a subscript which is data stays inside of its array.

Interval arithmetic over the expression, from the ranges of the types (a ``u8`` is 0 to 255), of the
loop variables, and of the locals that the caller knows. An operator whose result is cut to a
narrower type has that type's whole range where it may wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import assert_never, cast

from dsl.expressions import real_range
from dsl.expressions.comparisons import MIRRORED, OPPOSITE, clip, decided, halfway, told
from dsl.expressions.conversions import bare
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
)
from dsl.expressions.facts import Fact, narrow
from dsl.expressions.inverses import rest_of
from dsl.expressions.numeric import bounds
from dsl.expressions.real_range import RealRange
from dsl.expressions.rounding import rounding_of
from dsl.expressions.types import DType, IndexType, IntType, boolean

Range = tuple[int, int]
"""The smallest and the largest value, both included."""

Stored = Callable[[Access, DType], Range]
"""The range of what an access may read, of integer type."""


def type_range(dtype: DType) -> Range:
    """What a type holds; of fractions with exact ends, of floats all of them."""
    if not isinstance(dtype, IntType | IndexType):
        return cast(Range, real_range.whole(dtype))
    return bounds(dtype)


def value_range(expr: Expr, loops: Mapping[str, Range], stored: Stored) -> Range:
    """A range that holds every value of an expression; not always the smallest one.

    Args:
        expr: of integer type; of fractions the ends are exact numbers or infinite (see `dsl.expressions.real_range`).
        loops: ranges of the loop variables around.
        stored: the range of what an access reads, a gather's among them.
    """
    return _Ranges(loops, stored).any(expr)


def ranges_where(
    facts: Sequence[Fact], of: Sequence[Expr], loops: Mapping[str, Range], stored: Stored
) -> list[Range] | None:
    """Ranges of expressions where some conditions hold; None where these cannot hold together."""
    plain = _Ranges(loops, stored)
    for cond, holds in facts:
        if plain.truth(cond) is (not holds):
            return None
        plain = plain.under(cond, holds)
    return [plain.any(expr) for expr in of]


def loops_where(cond: Expr, holds: bool, loops: Mapping[str, Range]) -> Mapping[str, Range]:
    """What a condition, or its contrary, leaves of the ranges of loop variables."""
    return _Ranges(loops, lambda _, dtype: type_range(dtype)).under(cond, holds).loops


def truth_where(cond: Expr, loops: Mapping[str, Range]) -> bool | None:
    """Whether a condition holds for all values of the loop variables, or for none; None where neither is known."""
    return _Ranges(loops, lambda _, dtype: type_range(dtype)).truth(cond)


class _Ranges:
    """Ranges where some conditions hold: ``told`` are values and what they leave of these, ``pairs`` are values that
    compare so with each other.
    """

    def __init__(
        self,
        loops: Mapping[str, Range],
        stored: Stored,
        told: tuple[tuple[Expr, CompareOp, Range], ...] = (),
        pairs: tuple[tuple[Expr, CompareOp, Expr], ...] = (),
    ) -> None:
        self.loops, self.stored, self.told, self.pairs = loops, stored, told, pairs
        self.known: dict[int, Range] = {}
        self.known_reals: dict[int, RealRange] = {}

    def any(self, expr: Expr) -> Range:
        """Of an expression of any type."""
        return self.of(expr) if _is_integer(expr) else cast(Range, self.real(expr))

    def real(self, expr: Expr) -> RealRange:
        """Of an expression of any type, with exact ends."""
        if _is_integer(expr):
            return self.of(expr)
        found = self.known_reals.get(id(expr))
        if found is None:
            found = self._real(expr)
            for value, op, held in self.told:
                if value == expr:
                    part = real_range.clipped(found, op, held, expr.dtype)
                    found = part if part[0] <= part[1] else found
            self.known_reals[id(expr)] = found
        return found

    def _real(self, expr: Expr) -> RealRange:
        found: RealRange | None = None
        match expr:
            case Const():
                found = real_range.constant(expr)
            case Load(access, dtype) | Gather(access=access, dtype=dtype):
                return self.stored(access, dtype)
            case Cast(x) | Scatter(value=x):
                found = self.real(x)
            case Select(cond, then, orelse):
                known = self.truth(cond)
                if known is not None:
                    found = self.real(then if known else orelse)
                else:
                    sides = [
                        self.under(cond, h).real(x) for h, x in ((True, then), (False, orelse))
                    ]
                    found = min(low for low, _ in sides), max(high for _, high in sides)
            case Unary(op, x):
                found = real_range.unary(op, self.real(x))
            case Binary(op, lhs, rhs):
                found = real_range.binary(op, self.real(lhs), self.real(rhs))
            case _:
                pass
        if found is None:
            return real_range.whole(expr.dtype)
        return real_range.converted(found, expr.dtype)

    def of(self, expr: Expr) -> Range:
        found = self.known.get(id(expr))
        if found is None:
            found = self.known[id(expr)] = self._clipped(expr)
        return found

    def _clipped(self, expr: Expr) -> Range:
        low, high = _fitted(self._of(expr), expr.dtype)
        plain = bare(expr) if self.told else expr
        for value, op, (least, most) in self.told:
            if value == plain:
                clipped = clip((low, high), op, least, most)
                if clipped[0] <= clipped[1]:  # else this is never computed
                    low, high = clipped
        return low, high

    def _of(self, expr: Expr) -> Range:
        match expr:
            case Const(value=value):
                return int(value), int(value)
            case Load(access, dtype) | Gather(access=access, dtype=dtype):
                return self.stored(access, dtype)
            case Index(affine):
                return affine.interval(self.loops)
            case Compare():
                return 0, 1
            case Cast(x):
                return self._rest(expr) or self._integer(x, expr.dtype)
            case Select(cond, then, orelse):
                known = self.truth(cond)
                if known is not None:
                    return self._integer(then if known else orelse, expr.dtype)
                a = self._where(cond, True, then, expr.dtype)
                b = self._where(cond, False, orelse, expr.dtype)
                return min(a[0], b[0]), max(a[1], b[1])
            case Scatter(value=x):
                return self.of(x)
            case Unary(op, x):
                return self._unary(op, x, expr.dtype)
            case Binary(op, lhs, rhs):
                return self._binary(op, lhs, rhs, expr.dtype)
            case _:
                assert_never(expr)

    def _rest(self, expr: Expr) -> Range | None:
        """Of a rest that is computed without a divider."""
        rest = rest_of(expr)
        if rest is None or not _is_integer(rest.quotient.taken):
            return None
        is_rest = rest.quotient.divides(rest.by, *self.of(rest.quotient.taken))
        return (0, rest.by - 1) if is_rest else None

    def _integer(self, expr: Expr, dtype: DType) -> Range:
        """Of an operand: a fraction cut to an integer, towards zero; all that the result's type holds where
        it may not fit.
        """
        if isinstance(expr.dtype, IntType | IndexType):
            return self.of(expr)
        return self._whole_numbers(expr, "trunc", dtype)

    def _chosen(self, expr: Expr) -> Expr:
        """What a choice is whose condition is known; of all else itself."""
        known = self.truth(expr.cond) if isinstance(expr, Select) else None
        if not isinstance(expr, Select) or known is None:
            return expr
        return expr.then if known else expr.orelse

    def _whole_numbers(self, expr: Expr, cut: str, dtype: DType) -> Range:
        found = real_range.integers(self.real(expr), cut)
        least, most = type_range(dtype)
        return found if found and least <= found[0] and found[1] <= most else (least, most)

    def truth(self, cond: Expr) -> bool | None:
        """Whether a condition holds; None where that is not known."""
        match cond:
            case Unary(UnaryOp.NOT, x):
                found = self.truth(x)
                return None if found is None else not found
            case Binary(BinaryOp.AND | BinaryOp.OR as op, a, b) if cond.dtype == boolean:
                absorbing = op is BinaryOp.OR
                both = self.truth(a), self.truth(b)
                if absorbing in both:
                    return absorbing
                return None if None in both else not absorbing
            case Compare(op, lhs, rhs) if _is_integer(lhs) and _is_integer(rhs):
                return decided(op, self.of(lhs), self.of(rhs))
            case Compare(op, lhs, rhs):
                return real_range.decided_reals(op, self.real(lhs), self.real(rhs))
            case Load() if cond.dtype == boolean:
                low, high = self.of(cond)
                return bool(low) if low == high else None
            case _:
                return None

    def _where(self, cond: Expr, holds: bool, value: Expr, dtype: DType) -> Range:
        """Of a side of a selection: the condition may be about that very value, or parts of it."""
        held = self.under(cond, holds)._integer(value, dtype)
        return self._narrowed(held, cond, holds, bare(value))

    def _narrowed(self, held: Range, cond: Expr, holds: bool, value: Expr) -> Range:
        """What of a range a value has where a condition is ``holds``; all of it where it says nothing."""
        match cond:
            case Unary(UnaryOp.NOT, x):
                return self._narrowed(held, x, not holds, value)
            case Binary(BinaryOp.AND | BinaryOp.OR as op, a, b) if cond.dtype == boolean:
                first = self._narrowed(held, a, holds, value)
                if (op is BinaryOp.AND) is holds:
                    return self._narrowed(first, b, holds, value)
                second = self._narrowed(held, b, holds, value)
                return min(first[0], second[0]), max(first[1], second[1])
            case Compare():
                return self._compared(held, cond, holds, value)
            case _:
                return held

    def _compared(self, held: Range, cond: Compare, holds: bool, value: Expr) -> Range:
        low, high = held
        for said, way, (least, most) in self._told(cond, holds):
            if said != value:
                continue
            clipped = clip((low, high), way, least, most)
            if clipped[0] <= clipped[1]:
                low, high = clipped
        return low, high

    def under(self, cond: Expr, holds: bool) -> _Ranges:
        """Those where a condition holds, or does not."""
        said = tuple(self._told(cond, holds))
        if not said:
            return self
        loops = dict(self.loops)
        for value, op, (least, most) in said:
            if isinstance(value, Index):
                narrow(loops, value.affine, op, least, most)
        return _Ranges(loops, self.stored, (*self.told, *said), (*self.pairs, *_pairs(cond, holds)))

    def _difference(self, found: Range, lhs: Expr, rhs: Expr) -> Range:
        """What of a difference is left where a condition compares its operands: behind ``if c >= w``, ``c - w`` is not
        below 0.
        """
        if not self.pairs:
            return found
        mine = bare(lhs), bare(rhs)
        for first, op, second in self.pairs:
            for way, pair in ((op, (first, second)), (MIRRORED[op], (second, first))):
                clipped = clip(found, way, 0, 0)
                if pair == mine and clipped[0] <= clipped[1]:
                    found = clipped
        return found

    def _told(self, cond: Expr, holds: bool) -> Iterator[tuple[Expr, CompareOp, Range]]:
        match cond:
            case Binary(BinaryOp.AND | BinaryOp.OR as op, lhs, rhs) if cond.dtype == boolean:
                if holds == (op is BinaryOp.AND):  # both are as the whole is
                    yield from self._told(lhs, holds)
                    yield from self._told(rhs, holds)
            case Unary(UnaryOp.NOT, operand):
                yield from self._told(operand, not holds)
            case Compare(op, lhs, rhs) if _is_integer(lhs) and _is_integer(rhs):
                for value, way, held in told(
                    op if holds else OPPOSITE[op], bare(lhs), bare(rhs), self.of
                ):
                    yield bare(value), way, held
            case Compare(op, lhs, rhs):
                way = op if holds else OPPOSITE[op]
                for value, how, other in ((lhs, way, rhs), (rhs, MIRRORED[way], lhs)):
                    if not _is_integer(value) and not isinstance(value, Const):
                        yield value, how, cast(Range, self.real(other))
            case Load() if cond.dtype == boolean:
                yield cond, CompareOp.EQ, (int(holds), int(holds))
            case _:
                return

    def _unary(self, op: UnaryOp, x: Expr, dtype: DType) -> Range:
        low, high = self._integer(x, dtype)
        match op:
            case UnaryOp.NEG:
                return -high, -low
            case UnaryOp.ABS:
                least = 0 if low <= 0 <= high else min(abs(low), abs(high))
                return least, max(abs(low), abs(high))
            case _:
                return type_range(dtype)

    def _binary(self, op: BinaryOp, lhs: Expr, rhs: Expr, dtype: DType) -> Range:
        if (of := rounding_of(op, bare(lhs), bare(rhs), self._chosen)) is not None:
            return self._whole_numbers(of[1], of[0], dtype)
        a, b = self._integer(lhs, dtype), self._integer(rhs, dtype)
        match op:
            case BinaryOp.ADD:
                if (found := halfway(lhs, rhs, bare)) is not None:
                    c = self._integer(found[0], dtype)
                    return (a[0] + c[0] + found[1]) // 2, (a[1] + c[1] + found[1]) // 2
                return a[0] + b[0], a[1] + b[1]
            case BinaryOp.SUB:
                return self._difference((a[0] - b[1], a[1] - b[0]), lhs, rhs)
            case BinaryOp.MUL:
                ends = [x * y for x in a for y in b]
                return min(ends), max(ends)
            case BinaryOp.FLOORDIV if b[0] > 0:
                ends = [x // y for x in a for y in b]
                return min(ends), max(ends)
            case BinaryOp.MOD if b[0] > 0:
                inside = a[0] >= 0 and a[1] < b[0]
                return a if inside else (0, min(b[1] - 1, a[1]) if a[0] >= 0 else b[1] - 1)
            case BinaryOp.MIN:
                return min(a[0], b[0]), min(a[1], b[1])
            case BinaryOp.MAX:
                return max(a[0], b[0]), max(a[1], b[1])
            case BinaryOp.AND if a[0] >= 0 or b[0] >= 0:
                return 0, min(x[1] for x in (a, b) if x[0] >= 0)
            case BinaryOp.OR | BinaryOp.XOR if a[0] >= 0 and b[0] >= 0:
                return 0, (1 << max(a[1], b[1]).bit_length()) - 1
            case BinaryOp.SHR if b[0] >= 0:
                ends = [x >> min(y, 1 << 16) for x in a for y in b]
                return min(ends), max(ends)
            case BinaryOp.SHL if b[0] >= 0 and b[1] <= 1 << 10:
                ends = [x << y for x in a for y in b]
                return min(ends), max(ends)
            case _:
                return type_range(dtype)


def _pairs(cond: Expr, holds: bool) -> Iterator[tuple[Expr, CompareOp, Expr]]:
    """The values that compare with each other where a condition holds, or does not."""
    match cond:
        case Binary(BinaryOp.AND | BinaryOp.OR as op, lhs, rhs) if cond.dtype == boolean:
            if holds == (op is BinaryOp.AND):
                yield from _pairs(lhs, holds)
                yield from _pairs(rhs, holds)
        case Unary(UnaryOp.NOT, operand):
            yield from _pairs(operand, not holds)
        case Compare(op, lhs, rhs) if _is_integer(lhs) and _is_integer(rhs):
            yield bare(lhs), op if holds else OPPOSITE[op], bare(rhs)
        case _:
            return


def _fitted(found: Range, dtype: DType) -> Range:
    """The range in a type: the type's own where some values would wrap."""
    low, high = type_range(dtype)
    return found if low <= found[0] and found[1] <= high else (low, high)


def _is_integer(expr: Expr) -> bool:
    return isinstance(expr.dtype, IntType | IndexType)
