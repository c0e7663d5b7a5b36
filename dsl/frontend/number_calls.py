"""Functions on one number: ``math.floor``, ``round``, ``np.floor``, ``np.rint``, ``bin(x).count("1")``, ``x.bit_length()``."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from typing import cast

from dsl.errors.errors import Span
from dsl.expressions import typing, values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp, CompareOp, Expr, UnaryOp
from dsl.expressions.types import FixedType, FloatType, IntType, boolean
from dsl.expressions.values import Value
from dsl.frontend.arrays.constant_items import folded
from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.context import Context
from dsl.frontend.loop_numbers import cut_number
from dsl.frontend.operands import value
from dsl.frontend.quotients import quotient

_INTEGER = IntType(32)
MAX_BITS = 512
_OF_NUMPY = ("floor", "ceil", "trunc", "rint", "round", "around")
_CONSTANT: dict[str, Callable[[float], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
}
_PRECISION = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
"""Bits of a float: from two to their power on, all floats are integers."""


def number_call(ctx: Context, node: ast.Call) -> Value | None:
    """The value of such a call of data; None of all others."""
    func = node.func
    if (constant := folded(ctx, node)) is not None:
        return cast(Value, constant)
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=called, args=[of]), attr="count"),
            args=[ast.Constant(value="1")],
        ) if isinstance(called, ast.Name) and _function(ctx, called) is builtins.bin:
            return _bits(ctx, of, node, is_length=False)
        case ast.Call(func=ast.Attribute(value=of, attr="bit_count" | "bit_length"), args=[]):
            assert isinstance(func, ast.Attribute)
            return _bits(ctx, of, node, is_length=func.attr == "bit_length")
        case ast.Call(args=[of], keywords=[]) if isinstance(func, ast.Name | ast.Attribute):
            function = _function(ctx, func)
            if (known := cut_number(ctx, function, node)) is not None:
                return known
            if (found := quotient(ctx, function, of, ctx.span(node))) is not None:
                return found
            if numpy_name(function) in _OF_NUMPY:
                return _rounded_float(ctx, numpy_name(function), of, node)
            return _rounded(ctx, function, of, node)
    return None


def _function(ctx: Context, node: ast.Name | ast.Attribute) -> object:
    """What is called, where that is a name from outside; None of a method."""
    if isinstance(node, ast.Name):
        return ctx.request.environment.lookup(node.id) if node.id not in ctx.bound else None
    if isinstance(node.value, ast.Name) and node.value.id not in ctx.bound:
        return getattr(ctx.request.environment.lookup(node.value.id), node.attr, None)
    return None


def _bits(ctx: Context, of: ast.expr, node: ast.Call, *, is_length: bool) -> Value | None:
    """How many bits of the absolute value are one, or how many it has."""
    found = value(ctx, of)
    span = ctx.span(node)
    if isinstance(found, bool | int):
        return int(found).bit_length() if is_length else int(found).bit_count()
    if isinstance(found, Affine):
        found = values.cast(_INTEGER, found, span)
    if not isinstance(found, Expr):
        return None
    dtype = typing.settled(found, span).dtype
    if not isinstance(dtype, IntType):
        return None
    if dtype.width > MAX_BITS:
        message = f"bits are counted of at most {MAX_BITS} bits, and this is a {dtype}"
        raise ctx.error(
            "W108", message, node, f"convert parts: u{MAX_BITS}(x) and u{MAX_BITS}(x >> {MAX_BITS})"
        )
    size = values.unary(UnaryOp.ABS, found, span) if dtype.signed else found
    terms: list[Value] = []
    for n in range(dtype.width):
        if is_length:
            terms.append(values.compare(CompareOp.GE, size, 1 << n, span))
            continue
        bit = values.binary(BinaryOp.AND, values.binary(BinaryOp.SHR, size, n, span), 1, span)
        terms.append(values.cast(boolean, bit, span))
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        added = [values.binary(BinaryOp.ADD, a, b, span) for a, b in pairs]
        terms = added + (terms[-1:] if len(terms) % 2 else [])
    return terms[0]


def _rounded(ctx: Context, function: object, of: ast.expr, node: ast.Call) -> Value | None:
    """``math.floor``, ``math.ceil``, ``math.trunc`` and ``round``: a float as an ``i32``, as ``int`` makes it."""
    if function not in (math.floor, math.ceil, math.trunc, builtins.round):
        return None
    found = value(ctx, of)
    span = ctx.span(node)
    if isinstance(found, int | float):
        return int(function(found))
    if isinstance(found, Affine) or isinstance(found.dtype, IntType):
        return found
    found = typing.settled(found, span)
    dtype = found.dtype
    if isinstance(dtype, FixedType):
        integer = IntType(max(dtype.integer, 1) + 1)
    elif isinstance(dtype, FloatType):
        integer = _INTEGER
    else:
        return None
    cut = values.cast(integer, found, span)
    if function is math.trunc:
        return cut
    if function is math.ceil:
        above = values.compare(CompareOp.LT, _like(found, cut, span), found, span)
        return values.cast(integer, values.binary(BinaryOp.ADD, cut, above, span), span)
    below = values.compare(CompareOp.GT, _like(found, cut, span), found, span)
    floor = values.cast(integer, values.binary(BinaryOp.SUB, cut, below, span), span)
    if function is math.floor:
        return floor
    return _nearest(found, floor, ctx, node)


def _like(found: Expr, integer: Expr, span: Span) -> Expr:
    """An integer to compare with a fraction: next to fixed point it is exact as it is."""
    return (
        integer if isinstance(found.dtype, FixedType) else values.cast(found.dtype, integer, span)
    )


def _rounded_float(ctx: Context, name: str, of: ast.expr, node: ast.Call) -> Value | None:
    """``np.floor``, ``np.ceil``, ``np.trunc`` and ``np.rint``: a float as one of its type, exact but for the sign of zero.

    Only what has a fraction is converted to an integer and back; NaN, infinities and large floats are what they are.
    """
    found = value(ctx, of)
    span = ctx.span(node)
    if isinstance(found, int | float):
        return float(_CONSTANT.get(name, round)(found))
    if isinstance(found, Affine) or isinstance(found.dtype, IntType):
        return found
    dtype = typing.settled(found, span).dtype
    if isinstance(dtype, FixedType):
        return _rounded(ctx, _CONSTANT.get(name, round), of, node)
    if not isinstance(dtype, FloatType):
        return None
    size = values.unary(UnaryOp.ABS, found, span)
    has_fraction = values.compare(CompareOp.LT, size, float(1 << _PRECISION[dtype.name]), span)
    small = values.select(has_fraction, found, 0.0, span)
    integer = IntType(64 if dtype.name == "f64" else 32)
    cut = values.cast(integer, small, span)
    whole = values.cast(dtype, cut, span)
    below = values.compare(CompareOp.GT, whole, small, span)
    floor = values.cast(integer, values.binary(BinaryOp.SUB, cut, below, span), span)
    match name:
        case "trunc":
            rounded: Value = cut
        case "floor":
            rounded = floor
        case "ceil":
            above = values.compare(CompareOp.LT, whole, small, span)
            rounded = values.cast(integer, values.binary(BinaryOp.ADD, cut, above, span), span)
        case _:
            assert isinstance(small, Expr)
            rounded = _nearest(small, floor, ctx, node)
    return values.select(has_fraction, values.cast(dtype, rounded, span), found, span)


def _nearest(found: Expr, floor: Expr, ctx: Context, node: ast.Call) -> Value:
    """Rounded to the nearest, of two to the even one: the rest above ``floor`` is computed exactly where it decides."""
    span = ctx.span(node)
    rest = values.binary(BinaryOp.SUB, found, _like(found, floor, span), span)
    odd = values.cast(boolean, values.binary(BinaryOp.AND, floor, 1, span), span)
    tie = values.logical("and", values.compare(CompareOp.EQ, rest, 0.5, span), odd, span)
    up = values.logical("or", values.compare(CompareOp.GT, rest, 0.5, span), tie, span)
    return values.cast(floor.dtype, values.binary(BinaryOp.ADD, floor, up, span), span)
