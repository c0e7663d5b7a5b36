"""Conditions as facts: what may be the case where one holds, and what it leaves of the ranges of loop variables."""

from __future__ import annotations

from dsl.expressions.affine import Affine
from dsl.expressions.comparisons import clip
from dsl.expressions.expr import Binary, BinaryOp, CompareOp, Expr, Unary, UnaryOp
from dsl.expressions.types import boolean

Fact = tuple[Expr, bool]
"""A condition, and whether it holds."""

MOST_CASES = 16
"""A condition of more cases is one: each clause of a long conjunction would double them."""


def cases(cond: Expr, holds: bool) -> list[tuple[Fact, ...]]:
    """What may be the case where a condition holds, or does not: ``a or b`` is ``a``, or ``b`` without ``a``."""
    match cond:
        case Unary(UnaryOp.NOT, x):
            return cases(x, not holds)
        case Binary(BinaryOp.AND | BinaryOp.OR as op, a, b) if cond.dtype == boolean:
            is_both = (op is BinaryOp.AND) is holds
            first, second = cases(a, holds if is_both else not holds), cases(b, holds)
            if len(first) * len(second) > MOST_CASES:
                return [((cond, holds),)]
            both = [(*one, *other) for one in first for other in second]
            return both if is_both else [*cases(a, holds), *both]
        case _:
            return [((cond, holds),)]


def narrow(
    loops: dict[str, tuple[int, int]], of: Affine, op: CompareOp, least: int, most: int
) -> None:
    """Leave of the loop variables' ranges where an expression of them compares so with one of ``least`` to ``most``."""
    low, high = of.interval(loops)
    low, high = clip((low, high), op, least, most)
    for name, c in of.terms:
        if not isinstance(name, str):
            continue
        rest = (of - Affine.of(name) * c).interval(loops)
        ends = [-(-(low - rest[1]) // c), (high - rest[0]) // c]
        if c < 0:
            ends = [-(-(high - rest[0]) // c), (low - rest[1]) // c]
        first, last = max(loops[name][0], ends[0]), min(loops[name][1], ends[1])
        if first <= last:  # else this is never computed
            loops[name] = first, last
