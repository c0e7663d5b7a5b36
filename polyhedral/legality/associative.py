"""Whether the order of an accumulation is free in the type that it is stored in."""

from __future__ import annotations

from dsl.expressions.expr import Binary, BinaryOp, Expr
from dsl.expressions.types import DType, FixedType, FloatType, Overflow


def is_associative(value: Expr, target: DType) -> bool:
    """Whether storing every partial result keeps the reduction independent of its order.

    Args:
        value: ``t op e``.
        target: the type of ``t``. Rounding of floats is what the user allows with the step that asks.
    """
    if not isinstance(value, Binary) or isinstance(target, FloatType):
        return True
    if value.op in (BinaryOp.MIN, BinaryOp.MAX):
        return value.dtype == target
    if isinstance(target, FixedType) and target.overflow is not Overflow.WRAP:
        return False
    # Modulo 2^n, sums, products and bitwise operators are; but no bit may be lost on the right.
    return _fraction(value.dtype) <= _fraction(target)


def _fraction(dtype: DType) -> int:
    return dtype.frac if isinstance(dtype, FixedType) else 0
