"""Expressions: evaluated as far as they are known, the rest made into typed `Expr` trees.

What comes out is a number, an `Affine` of loop variables, an `Expr`, an `Array` (a whole one), or
any other captured object: a type, a module, a table, a function.
"""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from dsl.errors.errors import did_you_mean
from dsl.expressions import typing, values
from dsl.expressions.affine import Affine
from dsl.expressions.comparisons import decided
from dsl.expressions.expr import Access, BinaryOp, CompareOp, Expr, Load, Select, UnaryOp
from dsl.expressions.types import IndexType, IntType
from dsl.expressions.values import Value
from dsl.frontend import fold
from dsl.frontend.arrays.numpy_calls import no_power
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.slices import of_sliced, view_of
from dsl.frontend.arrays.subscript import subscript
from dsl.frontend.arrays.totals import total
from dsl.frontend.calls import call
from dsl.frontend.capture import MISSING, describe, is_number
from dsl.frontend.context import Context
from dsl.frontend.fixed_point import is_unasked, quotient_of_unasked
from dsl.frontend.functions import nested
from dsl.frontend.logic import both, chosen, tested
from dsl.frontend.operands import OfMean, as_value, bounded, float_of_arguments, no_mean, value
from dsl.frontend.scope import LoopName
from dsl.frontend.syntax.conjuncts import Root
from dsl.frontend.syntax.loop_parts import Most
from dsl.frontend.syntax.progress import Trips
from dsl.frontend.syntax.unsupported import CALLS, EXPRESSIONS
from dsl.frontend.trip_bounds import most_iterations, most_root, most_trips
from dsl.frontend.tuples import same_tuples
from dsl.programs.program import Array

BINARY_OPS: dict[type[ast.operator], BinaryOp] = {
    ast.Add: BinaryOp.ADD,
    ast.Sub: BinaryOp.SUB,
    ast.Mult: BinaryOp.MUL,
    ast.Div: BinaryOp.DIV,
    ast.FloorDiv: BinaryOp.FLOORDIV,
    ast.Mod: BinaryOp.MOD,
    ast.BitAnd: BinaryOp.AND,
    ast.BitOr: BinaryOp.OR,
    ast.BitXor: BinaryOp.XOR,
    ast.LShift: BinaryOp.SHL,
    ast.RShift: BinaryOp.SHR,
}
_CONSTANTS: dict[type[object], str] = {
    type(None): "None",
    type(...): "'...'",
    bytes: "a string",
    complex: "a complex number",
}
UNARY_OPS: dict[type[ast.unaryop], UnaryOp] = {
    ast.USub: UnaryOp.NEG,
    ast.Invert: UnaryOp.INVERT,
    ast.Not: UnaryOp.NOT,
}
COMPARE_OPS: dict[type[ast.cmpop], CompareOp] = {
    ast.Eq: CompareOp.EQ,
    ast.NotEq: CompareOp.NE,
    ast.Lt: CompareOp.LT,
    ast.LtE: CompareOp.LE,
    ast.Gt: CompareOp.GT,
    ast.GtE: CompareOp.GE,
}


def evaluate(ctx: Context, node: ast.expr) -> object:
    """What an expression stands for.

    Raises:
        LanguageError: it is not of the language, a name is unknown, the types do not fit.
    """
    match node:
        case Most():
            return most_iterations(ctx, node)
        case Trips():
            return most_trips(ctx, node)
        case Root():
            return most_root(ctx, node)
        case ast.Constant():
            return _constant(ctx, node)
        case ast.Name():
            return _name(ctx, node)
        case ast.BinOp(op=ast.MatMult()) | ast.Subscript() if (
            of_loops := total(ctx, node)
        ) is not None:
            found = ctx.ahead.known[node] = ctx.evaluate(of_loops)
            return found
        case ast.BinOp():
            a, b = value(ctx, node.left), value(ctx, node.right)
            return binary(ctx, node.op, a, b, node)
        case ast.UnaryOp():
            return _unary(ctx, node)
        case ast.Compare():
            return _compare(ctx, node)
        case ast.BoolOp():
            return chosen(ctx, node)
        case ast.IfExp():
            return _select(ctx, node)
        case ast.Attribute():
            return _attribute(ctx, node)
        case ast.Subscript():
            return subscript(ctx, of_sliced(ctx, node))
        case ast.Call():
            return call(ctx, node)
        case _:
            what, instead = EXPRESSIONS.get(type(node), ("this expression", "see the language"))
            raise ctx.error("W105", f"{what} is not supported in a kernel", node, instead)


_OF_REALS = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV)


def binary(ctx: Context, op: ast.operator, a: Value, b: Value, node: ast.expr | ast.stmt) -> Value:
    """``a op b`` of two values that stand at ``node``."""
    if isinstance(op, OfMean):
        if _is_integer(a):
            raise no_mean(ctx, node)
        op = ast.Div()
    if is_number(a) and is_number(b):
        return _folded(ctx, fold.binary, op, a, b, node)
    if isinstance(op, ast.Pow):
        if a == 2 and type(a) is int and _is_integer(b):
            return binary(ctx, ast.LShift(), 1, b, node)
        if not isinstance(b, int):
            raise no_power(ctx, a, node)
        return typing.power(values.operand(a), b, ctx.span(node))
    known = BINARY_OPS.get(type(op))
    if known is None:
        instead = "its operands are arrays, or parts of arrays"
        raise ctx.error("W105", "'@' of numbers is not supported in a kernel", node, instead)
    if known in (BinaryOp.SHL, BinaryOp.SHR) and isinstance(b, Affine):
        return values.shift(known, a, b, b.interval(ctx.names.ranges()), ctx.span(node))
    if known in _OF_REALS:
        a, b = _as_float(ctx, a, b), _as_float(ctx, b, a)
    if known is BinaryOp.DIV:
        found = quotient_of_unasked(ctx, a, b, ctx.span(node))
        if found is not None:
            return found
    return values.binary(known, a, b, ctx.span(node), ctx.names.ranges())


def _is_integer(x: Value) -> bool:
    return isinstance(x, Affine) or (
        isinstance(x, Expr) and isinstance(x.dtype, IntType | IndexType)
    )


def _as_float(ctx: Context, x: Value, other: Value) -> Value:
    """A literal next to an integer, or to one and a fraction, which no fixed point holds, ``6.2832 * i``: a float as the arguments are; so is a
    choice between literals, as of an entry of a table, where one of them is that.
    """
    is_open = isinstance(x, Expr) and typing.is_open(x)
    literals: Iterable[object] = typing.choices(x) if is_open else (x,)  # type: ignore[arg-type]
    if all(map(_is_exact, literals)) or not (_is_integer(other) or is_unasked(ctx, other)):
        return x
    usual = float_of_arguments(ctx)
    return x if usual is None else typing.typed(x, usual)  # type: ignore[arg-type]


def _is_exact(x: object) -> bool:
    """Whether it is no float that no fixed point holds."""
    return not isinstance(x, float) or not math.isfinite(x) or Fraction(repr(x)) == Fraction(x)


def _folded(ctx: Context, function: Any, op: ast.AST, *args: Any) -> Value:
    *operands, node = args
    try:
        result = function(op, *operands)
    except fold.FoldError as e:
        message = f"the constant {ctx.source.text(node)} has no value: {e}"
        raise ctx.error("W114", message, node) from None
    return float(result) if isinstance(result, Fraction) else result


def _constant(ctx: Context, node: ast.Constant) -> object:
    match node.value:
        case bool() | float() | str():
            return node.value
        case int():
            return bounded(ctx, node.value, node)
        case _:
            kind = _CONSTANTS.get(type(node.value), "this constant")
            instead = "a kernel computes with integers, fixed point and floats"
            raise ctx.error("W105", f"{kind} is not supported in a kernel", node, instead)


def _name(ctx: Context, node: ast.Name) -> object:
    match ctx.names.find(node.id):
        case LoopName(var=var):
            return Affine.of(var)
        case Array(shape=()) as scalar:
            return Load(Access(scalar.name, (), ctx.span(node)), scalar.dtype)
        case Array() as array:
            return array
    number = ctx.names.constant(node.id)
    if number is not None:
        return number
    function = nested(ctx, node.id)
    if function is not None:
        return function
    environment = ctx.request.environment
    if node.id not in ctx.bound:
        captured = environment.lookup(node.id)
        if captured is not MISSING:
            return bounded(ctx, captured, node)
    raise ctx.names.missing(
        node.id, ctx.span(node), environment.names(), bound=node.id in ctx.bound
    )


def _attribute(ctx: Context, node: ast.Attribute) -> object:
    view = view_of(ctx, node.value)
    base = ctx.evaluate(node.value) if view is None else view
    text = ctx.source.text(node)
    if (part := part_of(ctx, base)) is not None:
        shape, dtype = part[1].shape, part[1].dtype
        known = {"shape": shape, "ndim": len(shape), "size": math.prod(shape), "dtype": dtype}
        if node.attr in known:
            return known[node.attr]
        message = f"an array of a kernel has no attribute '{node.attr}'"
        instead = CALLS.get(node.attr) or did_you_mean(node.attr, known)
        raise ctx.error("W105", message, node, instead)
    if isinstance(base, (Affine, Expr)) or is_number(base):
        message = f"a value of a kernel has no attribute '{node.attr}'"
        raise ctx.error("W105", message, node, "convert with a type, e.g. weft.f32(x)")
    try:
        return bounded(ctx, values.plain(getattr(base, node.attr)), node)
    except AttributeError:
        known_names = dir(base) if isinstance(base, types.ModuleType) else vars(type(base))
        near = did_you_mean(node.attr, (n for n in known_names if not n.startswith("_")))
        if near is None or not near.startswith("did you mean"):
            near = None
        message = f"{text}: {describe(base)} has no '{node.attr}'"
        raise ctx.error("W130", message, node, near) from None


def _unary(ctx: Context, node: ast.UnaryOp) -> Value:
    is_not = isinstance(node.op, ast.Not)
    a = tested(ctx, node.operand) if is_not else value(ctx, node.operand)
    if is_number(a):
        return _folded(ctx, fold.unary, node.op, a, node)
    op = UNARY_OPS.get(type(node.op))
    return a if op is None else values.unary(op, a, ctx.span(node))


def _compare(ctx: Context, node: ast.Compare) -> Value:
    """A comparison or a chain of them as data."""
    listed = membership(ctx, node)
    if listed is not None:
        return value(ctx, listed)
    if (same := same_tuples(ctx, node)) is not None:
        return same
    ops = comparisons(ctx, node)
    operands = compared(ctx, node)
    result: Value = True
    for op, first, second in zip(ops, operands, operands[1:], strict=False):
        a, b = _as_float(ctx, first, second), _as_float(ctx, second, first)
        part = values.compare(op, a, b, ctx.span(node))
        if ctx.expanding and (always := _always(ctx, op, a, b)) is not None:
            part = always  # a function for all places is called where some of them cannot be
        result = both(ctx, "and", result, part, node)
    return result


def _always(ctx: Context, op: CompareOp, a: Value, b: Value) -> bool | None:
    """What a comparison of loop variables is in all iterations; None where it is not always the same, or of data."""
    left, right = values.as_affine(a), values.as_affine(b)
    if left is None or right is None:
        return None
    return decided(op, (left - right).interval(ctx.names.ranges()), (0, 0))


def compared(ctx: Context, node: ast.Compare) -> list[Value]:
    """The operands of a comparison, of which Python evaluates the third and further ones only if need be."""
    first = [value(ctx, n) for n in (node.left, node.comparators[0])]
    return first + [as_value(ctx, n, ctx.evaluate_maybe(n)) for n in node.comparators[1:]]


def membership(ctx: Context, node: ast.Compare) -> ast.expr | None:
    """``x in (a, b)`` as ``x == a or x == b``, ``not in`` as its contrary; None for other comparisons.

    Raises:
        LanguageError: W105 it is not in constants or values that are listed.
    """
    if not any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
        return None
    listed = node.comparators[-1]
    if (
        not isinstance(listed, ast.Tuple | ast.List | ast.Set)
        or len(node.ops) != 1
        or not listed.elts
    ):
        instead = (
            "compare with == and <, joined by 'and', 'or', or with listed values, as in x in (1, 2)"
        )
        raise ctx.error("W105", "this 'in' is not supported in a kernel", node, instead)
    tests: list[ast.expr] = [
        ast.copy_location(ast.Compare(node.left, [ast.Eq()], [e]), node) for e in listed.elts
    ]
    found: ast.expr = tests[0]
    if len(tests) > 1:
        found = ast.copy_location(ast.BoolOp(ast.Or(), tests), node)
    if isinstance(node.ops[0], ast.NotIn):
        found = ast.copy_location(ast.UnaryOp(ast.Not(), found), node)
    return found


def comparisons(ctx: Context, node: ast.Compare) -> list[CompareOp]:
    """The operators of a comparison; ``in`` and ``is`` are refused, and so are strings."""
    for operand in (node.left, *node.comparators):
        if isinstance(operand, ast.Constant | ast.Name) and isinstance(ctx.evaluate(operand), str):
            raise ctx.error(
                "W113",
                f"{ctx.source.text(operand)} is a string, not a value",
                operand,
                "a kernel computes numbers: compare strings outside of it, and capture the result, "
                'as in FAST = MODE == "fast"',
            )
    for op in node.ops:
        if type(op) not in COMPARE_OPS:
            message = "'is' is not supported in a kernel"
            raise ctx.error("W105", message, node, "compare with == and <, joined by 'and', 'or'")
    return [COMPARE_OPS[type(op)] for op in node.ops]


def _select(ctx: Context, node: ast.IfExp) -> object:
    cond = tested(ctx, node.test)
    if is_number(cond):
        return ctx.evaluate(node.body if cond else node.orelse)
    sides: list[Value] = []
    for n, holds in ((node.body, True), (node.orelse, False)):
        ctx.ahead.under.append((node.test, holds))
        try:
            sides.append(as_value(ctx, n, ctx.evaluate_maybe(n)))
        finally:
            ctx.ahead.under.pop()
    then, orelse = sides
    found = values.select(cond, then, orelse, ctx.span(node))
    if isinstance(found, Select) and ctx.guard is not None:
        return ctx.guard(ctx, node, node, found)
    return found
