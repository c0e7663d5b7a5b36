"""Quotients of integers that Python writes as floats: ``int(a / b)``, ``math.floor(a / b)``, ``math.ceil(a / b)``.

``int`` and ``math.trunc`` cut towards zero, as ``/`` does in C.
"""

from __future__ import annotations

import ast
import math

from dsl.errors.errors import Span
from dsl.expressions import values
from dsl.expressions.expr import BinaryOp, CompareOp, Expr, UnaryOp
from dsl.expressions.types import IndexType, IntType
from dsl.expressions.value_range import Range, type_range, value_range
from dsl.expressions.values import Value
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.operands import value

_MOST_BITS = 50
"""Of the operands: Python's quotient is a float of 53 bits, which is rounded to an integer that it is not where they have more."""


def quotient(ctx: Context, function: object, of: ast.expr, span: Span | None) -> Value | None:
    """What such a function makes of a quotient of integers; None of any other call.

    Args:
        ctx: with the loops around.
        function: that is called.
        of: its argument.
        span: of the call.
    """
    if function not in (int, math.trunc, math.floor, math.ceil):
        return None
    if not isinstance(of, ast.BinOp) or not isinstance(of.op, ast.Div):
        return None
    a, b = value(ctx, of.left), value(ctx, of.right)
    ranges = _range(ctx, a), _range(ctx, b)
    if ranges[0] is None or ranges[1] is None or (is_number(a) and is_number(b)):
        return None
    (low, _), (least, _) = ranges[0], ranges[1]
    if function is math.floor or (function is not math.ceil and low >= 0 and least > 0):
        return values.binary(BinaryOp.FLOORDIV, a, b, span)
    if function is math.ceil:
        negative = values.unary(UnaryOp.NEG, a, span)
        return values.unary(UnaryOp.NEG, values.binary(BinaryOp.FLOORDIV, negative, b, span), span)
    return _cut(a, b, span)


def _cut(a: Value, b: Value, span: Span | None) -> Value:
    """The quotient of the absolute values, with the sign that it has."""
    positive, by = (values.unary(UnaryOp.ABS, x, span) for x in (a, b))
    size = values.binary(BinaryOp.FLOORDIV, positive, by, span)
    below, under = (values.compare(CompareOp.LT, x, 0, span) for x in (a, b))
    if isinstance(under, bool):
        differ = values.compare(CompareOp.GE, a, 0, span) if under else below
    else:
        differ = values.compare(CompareOp.NE, below, under, span)
    return values.select(differ, values.unary(UnaryOp.NEG, size, span), size, span)


def _range(ctx: Context, x: Value) -> Range | None:
    """What an integer operand may be; None of others, and of those of too many bits."""
    ranges = ctx.names.ranges()
    affine = values.as_affine(x)
    if affine is not None:
        found = affine.interval(ranges)
    elif isinstance(x, Expr) and isinstance(x.dtype, IntType | IndexType):
        found = value_range(x, ranges, lambda _, dtype: type_range(dtype))
    else:
        return None
    return found if max(abs(end).bit_length() for end in found) <= _MOST_BITS else None
