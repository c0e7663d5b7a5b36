"""Conversions between integers that change no value."""

from __future__ import annotations

from dsl.expressions.expr import Cast, Expr
from dsl.expressions.numeric import bounds
from dsl.expressions.types import DType, IndexType, IntType


def bare(expr: Expr) -> Expr:
    """Without conversions to types that hold every value of the operand."""
    while isinstance(expr, Cast) and has_all_of(expr.dtype, expr.operand.dtype):
        expr = expr.operand
    return expr


def has_all_of(wide: DType, narrow: DType) -> bool:
    """Whether an integer type has all values of another one."""
    if not isinstance(wide, IntType | IndexType) or not isinstance(narrow, IntType | IndexType):
        return False
    outer, inner = bounds(wide), bounds(narrow)
    return outer[0] <= inner[0] and inner[1] <= outer[1]
