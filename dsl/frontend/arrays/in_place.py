"""Calls that change an array, as assignments: ``np.dot(a, b, out=c)`` is ``c[:] = np.dot(a, b)``, ``y.fill(0)`` is
``y[:] = 0``, ``np.copyto(y, x)`` is ``y[:] = x``, and ``x.sort()`` is ``x[:] = np.sort(x)``.
"""

from __future__ import annotations

import ast
import sys

from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context


def assigned_in_place(ctx: Context, node: ast.Call) -> ast.Assign | None:
    """The assignment that a call in a statement of its own stands for; None of all others."""
    found = _out(ctx, node) or _filled(ctx, node) or _copied(ctx, node)
    if found is None:
        return None
    target, value = found
    made = ast.Assign([target if _is_part(target) else _whole(target)], value)
    return ast.copy_location(made, node)


def _out(ctx: Context, node: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    given = [k.value for k in node.keywords if k.arg == "out"]
    if len(given) != 1 or not numpy_name(ctx.evaluate(node.func)):
        return None
    value = ast.Call(node.func, node.args, [k for k in node.keywords if k.arg != "out"])
    return given[0], ast.copy_location(value, node)


def _copied(ctx: Context, node: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    named = isinstance(node.func, ast.Attribute) and node.func.attr == "copyto"
    if not named or len(node.args) != 2 or node.keywords:
        return None
    return (node.args[0], node.args[1]) if numpy_name(ctx.evaluate(node.func)) else None


def _filled(ctx: Context, node: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    match node:
        case ast.Call(func=ast.Attribute(value=of, attr="fill"), args=[value], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(value=of, attr="sort"), args=[], keywords=[]):
            function = ast.copy_location(ast.Name("sort", ast.Load()), node)
            ctx.given[function] = getattr(sys.modules.get("numpy"), "sort", None)
            value = ast.copy_location(ast.Call(function, [of], []), node)
        case _:
            return None
    view = view_of(ctx, of)
    return (of, value) if view is not None else None


def _is_part(node: ast.expr) -> bool:
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(part, ast.Slice) for part in parts)


def _whole(node: ast.expr) -> ast.expr:
    every = ast.copy_location(ast.Slice(), node)
    return ast.copy_location(ast.Subscript(node, every, ast.Store()), node)
