"""``and`` and ``or``: of truth values logic, of numbers the operand that Python chooses."""

from __future__ import annotations

import ast
import copy
from typing import Any

from dsl.expressions import values
from dsl.expressions.expr import CompareOp, Expr, Select
from dsl.expressions.types import boolean
from dsl.expressions.values import Value
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.operands import value


def _logical(ctx: Context, node: ast.BoolOp, is_test: bool = False) -> Value:
    """``a and b`` or ``a or b`` of truth values; of any values where it ``is_test`` what they are."""
    op = "and" if isinstance(node.op, ast.And) else "or"

    def part(n: ast.expr) -> Value:
        return tested(ctx, n) if is_test else value(ctx, n)

    result = part(node.values[0])
    ctx.ahead.conditional += 1
    for number, n in enumerate(node.values[1:], 1):
        other = part(n)
        if isinstance(result, Expr) and isinstance(other, Expr) and ctx.guard is not None:
            other = _behind(ctx, node, number, result, other)
        result = both(ctx, op, result, other, node)
    ctx.ahead.conditional -= 1
    return result


def chosen(ctx: Context, node: ast.BoolOp) -> object:
    """``a or b`` as a value: of numbers the first that is not zero, ``a if a else b``, as in Python."""
    first, *rest = node.values
    ctx.ahead.conditional += 1
    found = [value(ctx, first), *(value(ctx, n) for n in rest)]
    ctx.ahead.conditional -= 1
    if all(isinstance(v, bool) or getattr(v, "dtype", None) == boolean for v in found):
        return _logical(ctx, node)
    other = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), node)
    sides = (first, other) if isinstance(node.op, ast.Or) else (other, first)
    return ctx.evaluate(ast.copy_location(ast.IfExp(_again(ctx, first), *sides), node))


def _again(ctx: Context, node: ast.expr) -> ast.expr:
    """A copy, of which something else may be asked, such as its truth, than of the expression itself."""
    made = copy.copy(node)
    if node in ctx.given:
        ctx.given[made] = ctx.given[node]
    for name, held in ast.iter_fields(node):
        if isinstance(held, ast.expr):
            setattr(made, name, _again(ctx, held))
        elif isinstance(held, list):
            setattr(made, name, [_again(ctx, h) if isinstance(h, ast.expr) else h for h in held])
    return made


def _behind(ctx: Context, node: ast.BoolOp, number: int, result: Expr, other: Expr) -> Value:
    """An operand, which may read only what the operands in front of it leave to it."""
    assert ctx.guard is not None
    at = node.values[number]
    tests = node.values[:number]
    test = tests[0] if number == 1 else ast.copy_location(ast.BoolOp(node.op, tests), node)
    known = ast.copy_location(ast.Constant(isinstance(node.op, ast.Or)), at)
    if isinstance(node.op, ast.And):
        choice = ast.IfExp(test, at, known)
        found = values.select(result, other, False, ctx.span(at))
    else:
        choice = ast.IfExp(test, known, at)
        found = values.select(result, True, other, ctx.span(at))
    ast.copy_location(choice, at)
    guarded = ctx.guard(ctx, at, choice, found) if isinstance(found, Select) else found
    return other if guarded is found else guarded


def tested(ctx: Context, node: ast.expr) -> Value:
    """What is asked for its truth alone: a number, or a ``u1``; other data holds where it is not zero."""
    if isinstance(node, ast.BoolOp):
        return _logical(ctx, node, is_test=True)
    return truth(ctx, value(ctx, node), node)


def truth(ctx: Context, found: Value, node: ast.expr) -> Value:
    """Whether a value is not zero: a number, or a ``u1``."""
    if is_number(found) or (isinstance(found, Expr) and found.dtype == boolean):
        return found
    return values.compare(CompareOp.NE, found, 0, ctx.span(node))


def both(ctx: Context, op: Any, a: Value, b: Value, node: ast.expr) -> Value:
    """``a and b`` or ``a or b``; a side that is known decides or drops out."""
    neutral = op == "and"
    for known, other in ((a, b), (b, a)):
        if is_number(known):
            return other if bool(known) is neutral else not neutral
    return values.logical(op, a, b, ctx.span(node))
