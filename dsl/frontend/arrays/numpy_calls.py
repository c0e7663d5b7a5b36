"""Functions of Python and NumPy that are operators under another name: ``np.clip``, ``np.add``, ``pow``, ``int``, ``float``."""

from __future__ import annotations

import ast
import builtins
import math

from dsl.errors.errors import LanguageError, Span
from dsl.expressions import typing, values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp, CompareOp, Expr
from dsl.expressions.types import DType, FixedType, FloatType, IntType, f32
from dsl.expressions.values import Value
from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.context import Context
from dsl.frontend.operands import value

_BINARY = {
    "add": BinaryOp.ADD,
    "subtract": BinaryOp.SUB,
    "multiply": BinaryOp.MUL,
    "divide": BinaryOp.DIV,
    "true_divide": BinaryOp.DIV,
    "floor_divide": BinaryOp.FLOORDIV,
    "mod": BinaryOp.MOD,
    "remainder": BinaryOp.MOD,
    "bitwise_and": BinaryOp.AND,
    "bitwise_or": BinaryOp.OR,
    "bitwise_xor": BinaryOp.XOR,
    "left_shift": BinaryOp.SHL,
    "right_shift": BinaryOp.SHR,
}
_COUNTS = {"sign": 1, "square": 1, "power": 2, **dict.fromkeys(_BINARY, 2)}


def named_operator(ctx: Context, function: object, node: ast.Call) -> Value | None:
    """The value of a call of such a function; None of all others, and of a wrong number of arguments."""
    name = numpy_name(function)
    if name == "clip":
        return _clipped(ctx, node)
    if function in (builtins.pow, math.pow):
        name = "power"
    if _COUNTS.get(name) != len(node.args) or node.keywords:
        return None
    args = [value(ctx, a) for a in node.args]
    span = ctx.span(node)
    match name:
        case "sign":
            below = values.compare(CompareOp.LT, args[0], 0, span)
            above = values.compare(CompareOp.GT, args[0], 0, span)
            return _sign(args[0], above, below, span)
        case "square":
            return values.binary(BinaryOp.MUL, args[0], args[0], span)
        case "power":
            exponent = args[1]
            if not isinstance(exponent, int):
                raise no_power(ctx, args[0], node)
            return typing.power(values.operand(args[0]), exponent, span)
    return values.binary(_BINARY[name], args[0], args[1], span)


def no_power(ctx: Context, base: Value, node: ast.expr | ast.stmt) -> LanguageError:
    """A power whose exponent is no integer constant is refused, with what to write instead."""
    instead = "write weft.sqrt(x) for x ** 0.5, and weft.exp(y * weft.log(x)) for x ** y"
    match node:
        case ast.BinOp(right=exponent) | ast.Call(args=[_, exponent]) if (
            isinstance(base, int | float) and base > 0
        ):
            instead = f"write weft.exp({math.log(base)!r} * ({ctx.source.text(exponent)}))"
    return ctx.error("W127", "the exponent is not an integer constant", node, instead)


def _clipped(ctx: Context, node: ast.Call) -> Value | None:
    """``np.clip(x, low, high)``; bounds also by name, and None of a side that has none."""
    names = {"a_min": 0, "min": 0, "a_max": 1, "max": 1}
    bounds = dict(enumerate(node.args[1:]))
    for keyword in node.keywords:
        place = names.get(keyword.arg or "")
        if place is None or place in bounds:
            return None
        bounds[place] = keyword.value
    if not 1 <= len(node.args) <= 3:
        return None
    found = value(ctx, node.args[0])
    for place, op in enumerate((BinaryOp.MAX, BinaryOp.MIN)):
        bound = bounds.get(place)
        if bound is not None and not (isinstance(bound, ast.Constant) and bound.value is None):
            found = values.binary(op, found, value(ctx, bound), ctx.span(node))
    return found


def _sign(x: Value, above: Value, below: Value, span: Span | None) -> Value:
    """1, 0 or -1: of a float a float of its type."""
    of = values.select(above, 1, values.select(below, -1, 0, span), span)
    is_float = isinstance(x, Expr) and isinstance(x.dtype, FloatType)
    return values.cast(x.dtype, of, span) if is_float else of  # type: ignore[union-attr]


def converted(ctx: Context, function: object, node: ast.Call) -> Value | None:
    """``int(x)``, ``float(x)`` and ``bool(x)`` of data; None of all else.

    ``int`` cuts towards zero, of a float to an ``i32``; ``float`` is ``f32``, but of a wider float the float itself.
    """
    if len(node.args) != 1 or node.keywords or function not in (int, float, bool):
        return None
    found = ctx.evaluate(node.args[0])
    span = ctx.span(node)
    if not isinstance(found, Affine | Expr):
        return None
    if function is bool:
        return values.compare(CompareOp.NE, found, 0, span)
    if isinstance(found, Affine):
        return found if function is int else values.cast(f32, found, span)
    dtype = _as_integer(found.dtype) if function is int else _as_float(found.dtype)
    return found if dtype is None else values.cast(dtype, found, span)


def _as_integer(dtype: DType) -> DType | None:
    match dtype:
        case FixedType(integer=bits, signed=signed):
            return IntType(max(1, bits), signed)
        case FloatType():
            return IntType(32)
    return None


def _as_float(dtype: DType) -> DType | None:
    return None if isinstance(dtype, FloatType) else f32
