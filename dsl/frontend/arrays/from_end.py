"""Subscripts that count from the end, as in Python: ``x[-1]``, ``taps[-1 - k]``, ``t[~(x[i] & 3)]``."""

from __future__ import annotations

from dsl.errors.errors import Span
from dsl.expressions import values
from dsl.expressions.expr import BinaryOp, Expr
from dsl.expressions.types import IndexType, IntType
from dsl.expressions.value_range import type_range, value_range
from dsl.expressions.values import Value
from dsl.frontend.context import Context


def from_end(ctx: Context, index: Value, extent: int, span: Span | None) -> Value:
    """A subscript of a dimension, from its beginning: the extent is added to one that is negative in all iterations.

    One that is negative in some iterations only stays as it is: that it is outside is an error, not a wrap-around.

    Args:
        ctx: with the loops around.
        index: affine, or data.
        extent: of the dimension.
        span: of the subscript.
    """
    affine = values.as_affine(index)
    ranges = ctx.names.ranges()
    if affine is not None:
        low, high = affine.interval(ranges)
        return affine + extent if ctx.names.runs and -extent <= low and high < 0 else affine
    if not isinstance(index, Expr) or not isinstance(index.dtype, IntType | IndexType):
        return index
    low, high = value_range(index, ranges, lambda _, dtype: type_range(dtype))
    if not (ctx.names.runs and -extent <= low and high < 0):
        return index
    return values.binary(BinaryOp.ADD, index, extent, span)
