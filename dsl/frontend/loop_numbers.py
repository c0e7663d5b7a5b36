"""Integers that fractions of loop variables are cut to, ``int(i * 0.3)``: what Python computes for each value of the variables.

``int(x * (W / 13))`` is ``20 * x // 13`` where that is the same for all ``x`` of the loop: affine, so that its banks and
dependences are known. What is no such quotient is the entry of a table. No float is computed in hardware for either.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dsl.expressions import values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Expr
from dsl.expressions.types import IntType
from dsl.expressions.values import Value
from dsl.frontend.arrays.tables import looked_up
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context

MAX_VALUES = 1024
"""Of the variables together."""

MAX_DIVISOR = 64

_CUT = (int, math.floor, math.ceil, math.trunc, round)
_FUNCTIONS = (*_CUT, float, abs, min, max)
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}

Point = Mapping[str, int]
"""What loop variables are."""


class _NotKnown(Exception):
    """The expression is not of loop variables and constants alone."""


def cut_number(ctx: Context, function: object, node: ast.Call) -> Value | None:
    """The integer that such a call gives; None of all others."""
    if function not in _CUT or len(node.args) != 1 or node.keywords:
        return None
    of = node.args[0]
    try:
        names = sorted({*_variables(ctx, of)})
        ranges = ctx.names.ranges()
        spans = [range(ranges[n][0], ranges[n][1] + 1) for n in names]
        if not names or math.prod(map(len, spans)) > MAX_VALUES or not _has_fraction(ctx, of):
            return None
        found = [
            _number(ctx, node, dict(zip(names, point, strict=True)))
            for point in itertools.product(*spans)
        ]
    except _NotKnown:
        return None
    if not all(type(x) is int and abs(x) < 1 << 31 for x in found):
        return None
    if len(names) == 1 and (affine := _quotient(names[0], spans[0], found)) is not None:
        return affine
    return _entry(ctx, node, names, spans, found)


def _entry(
    ctx: Context, node: ast.Call, names: list[str], spans: list[range], found: list[int]
) -> Value | None:
    table: Any = found
    for span in reversed(spans[1:]):
        table = [table[n : n + len(span)] for n in range(0, len(table), len(span))]
    base: ast.expr = ast.copy_location(ast.Name("table", ast.Load()), node)
    ctx.given[base] = table
    chain: list[ast.Subscript] = []
    for name, span in zip(names, spans, strict=True):
        place = ast.copy_location(ast.Name(name, ast.Load()), node)
        ctx.given[place] = Affine.of(name) - span.start
        base = ast.copy_location(ast.Subscript(base, place, ast.Load()), node)
        chain.append(base)
    entry = looked_up(ctx, table, chain)
    return values.cast(IntType(32), entry, ctx.span(node)) if isinstance(entry, Expr) else None


def _quotient(name: str, span: range, found: list[int]) -> Affine | None:
    """``(a * i + b) // c`` that is each of the numbers at ``i``."""
    count = len(span)
    if count < 2:
        return Affine() + found[0]
    for divisor in range(1, MAX_DIVISOR + 1):
        slope = divisor * (found[-1] - found[0]) / (count - 1)
        for factor in {math.floor(slope), math.ceil(slope)}:
            rests = [divisor * x - factor * i for i, x in zip(span, found, strict=True)]
            if max(rests) < min(rests) + divisor:
                return (Affine.of(name) * factor + max(rests)) // divisor
    return None


def _variables(ctx: Context, node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            held = _held(ctx, part)
            if isinstance(held, Affine):
                yield from held.variables()


def _held(ctx: Context, node: ast.Name) -> object:
    """A number, an affine expression, or what is called; nothing is computed for it."""
    if node in ctx.given:
        found = ctx.given[node]
    elif (
        ctx.names.find(node.id) is None
        and ctx.names.constant(node.id) is None
        and node.id in ctx.bound
    ):
        raise _NotKnown
    else:
        found = ctx.evaluate(node)
    return found


def _has_fraction(ctx: Context, node: ast.expr) -> bool:
    """Whether floats are computed in it, other than by a quotient of integers, which is exact as it is."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, float):
            return True
        if isinstance(part, ast.Name) and isinstance(_held(ctx, part), float):
            return True
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            return True
    return False


def _number(ctx: Context, node: ast.expr, at: Point) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name():
            held = _held(ctx, node)
            if isinstance(held, Affine):
                return held.evaluate(at)
            if is_number(held):
                return held
        case ast.Attribute(value=ast.Name()):
            if is_number(constant := _function(ctx, node)):
                return constant
        case ast.UnaryOp(op=ast.USub(), operand=of):
            return -_number(ctx, of, at)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _computed(_OPERATORS[type(op)], _number(ctx, left, at), _number(ctx, right, at))
        case ast.Call(args=args, keywords=[]):
            function = _function(ctx, node.func)
            is_math = getattr(function, "__module__", "") == "math"
            if callable(function) and (function in _FUNCTIONS or is_math):
                return _computed(function, *(_number(ctx, a, at) for a in args))
    raise _NotKnown


def _computed(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except (ArithmeticError, TypeError, ValueError):
        raise _NotKnown from None  # what is wrong is said where the expression is read


def _function(ctx: Context, node: ast.expr) -> object:
    """What a name from outside, or one of a module, stands for."""
    environment = ctx.request.environment
    if isinstance(node, ast.Name) and node.id not in ctx.bound:
        return environment.lookup(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = environment.lookup(node.value.id) if node.value.id not in ctx.bound else None
        return getattr(module, node.attr, None) if module is math else None
    return None
