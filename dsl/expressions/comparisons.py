"""What comparisons of integers say of their operands, and of the terms of sums in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from dsl.expressions.expr import Binary, BinaryOp, CompareOp, Const, Expr
from dsl.expressions.numeric import bounds
from dsl.expressions.types import IndexType, IntType

_Range = tuple[int, int]

OPPOSITE = {
    CompareOp.LT: CompareOp.GE,
    CompareOp.LE: CompareOp.GT,
    CompareOp.GT: CompareOp.LE,
    CompareOp.GE: CompareOp.LT,
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
}
"""The comparison that holds where one does not."""

MIRRORED = {
    CompareOp.LT: CompareOp.GT,
    CompareOp.LE: CompareOp.GE,
    CompareOp.GT: CompareOp.LT,
    CompareOp.GE: CompareOp.LE,
    CompareOp.EQ: CompareOp.EQ,
    CompareOp.NE: CompareOp.NE,
}
"""The comparison with its operands in the other order."""


def told(
    op: CompareOp, lhs: Expr, rhs: Expr, of: Callable[[Expr], _Range]
) -> Iterator[tuple[Expr, CompareOp, _Range]]:
    """Values, and how they compare with one of a range: ``hi - lo > 1`` says ``hi > lo + 1``, and so what ``lo`` may be.

    Args:
        op: the comparison.
        lhs: its first operand, of integer type.
        rhs: its second one.
        of: the range of an integer expression.
    """
    for mine, way, (least, most) in ((lhs, op, of(rhs)), (rhs, MIRRORED[op], of(lhs))):
        yield mine, way, (least, most)
        if not isinstance(mine, Binary) or mine.op not in (BinaryOp.ADD, BinaryOp.SUB):
            continue
        a, b = mine.lhs, mine.rhs
        if not isinstance(mine.dtype, IntType | IndexType) or not all(
            isinstance(x.dtype, IntType | IndexType) for x in (a, b)
        ):
            continue
        x, y = of(a), of(b)
        added = mine.op is BinaryOp.ADD
        y = y if added else (-y[1], -y[0])
        low, high = bounds(mine.dtype)
        if x[0] + y[0] < low or x[1] + y[1] > high:
            continue  # it may wrap
        if not isinstance(a, Const):
            yield a, way, (least - y[1], most - y[0])
        if not isinstance(b, Const):
            rest = least - x[1], most - x[0]
            yield (b, way, rest) if added else (b, MIRRORED[way], (-rest[1], -rest[0]))


def halfway(start: Expr, more: Expr, same: Callable[[Expr], Expr]) -> tuple[Expr, int] | None:
    """The other end in ``lo + (hi - lo) // 2``, or with ``>> 1``, and what is added in front of the division, as in
    ``lo + (hi - lo + 1) // 2``; None where a sum is no such.

    Args:
        start: the first term of the sum.
        more: the second one.
        same: an expression without conversions that change nothing.
    """
    match same(more):
        case Binary(BinaryOp.FLOORDIV, difference, Const(value=2)) | Binary(
            BinaryOp.SHR, difference, Const(value=1)
        ):
            difference, added = same(difference), 0
            match difference:
                case Binary(BinaryOp.ADD, rest, Const(value=int(number))):
                    difference, added = same(rest), number
            match difference:
                case Binary(BinaryOp.SUB, end, taken) if same(taken) == same(start):
                    return end, added
    return None


def decided(op: CompareOp, a: _Range, b: _Range) -> bool | None:
    """Whether all values of one range compare so with all of another (True), or none (False)."""
    match op:
        case CompareOp.LT | CompareOp.LE:
            more = 0 if op is CompareOp.LT else 1
            return True if a[1] < b[0] + more else False if a[0] >= b[1] + more else None
        case CompareOp.GT | CompareOp.GE:
            return decided(MIRRORED[op], b, a)
        case CompareOp.EQ:
            if a[1] < b[0] or b[1] < a[0]:
                return False
            return True if a[0] == a[1] == b[0] == b[1] else None
        case CompareOp.NE:
            same = decided(CompareOp.EQ, a, b)
            return None if same is None else not same
        case _:
            assert_never(op)


def clip(of: _Range, op: CompareOp, least: int, most: int) -> _Range:
    """Of values that compare so with one of ``least`` to ``most``."""
    low, high = of
    match op:
        case CompareOp.LT:
            return low, min(high, most - 1)
        case CompareOp.LE:
            return low, min(high, most)
        case CompareOp.GT:
            return max(low, least + 1), high
        case CompareOp.GE:
            return max(low, least), high
        case CompareOp.EQ:
            return max(low, least), min(high, most)
        case CompareOp.NE if least == most:
            return low + (low == least), high - (high == least)
        case CompareOp.NE:
            return low, high
        case _:
            assert_never(op)
