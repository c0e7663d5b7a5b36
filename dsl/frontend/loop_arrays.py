"""Loops over expressions of arrays, which NumPy computes in front of the loop, and over rows at data.

Before::

    for k, i in enumerate(np.argsort(x)[:3]):
        y[k] = i

After::

    over = np.argsort(x)[:3]
    for k, i in enumerate(over):
        y[k] = i
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from dsl.expressions.intrinsics import grid
from dsl.frontend.arrays.constant_items import constant_of
from dsl.frontend.arrays.data_rows import data_row
from dsl.frontend.arrays.expressions import ArrayExprs
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.shapes import ArrayExpr
from dsl.frontend.arrays.trial import computed_shape
from dsl.frontend.context import Context
from dsl.frontend.scope import LoopName
from dsl.frontend.syntax.value_uses import stored_in

_AROUND = (enumerate, zip, reversed)


def computed_ahead(ctx: Context, loop: ast.For) -> list[ast.stmt] | None:
    """The assignments of such expressions to locals, and the loop over these; None of a loop over none."""
    found: dict[ast.expr, str] = {}
    for node in _iterables(ctx, loop.iter):
        if isinstance(node, ast.Tuple | ast.List):
            found |= {part: ctx.names.unique("over") for part in _kept(ctx, node, loop)}
        elif _is_computed(ctx, node) or _is_kept_row(ctx, node, loop):
            found[node] = ctx.names.unique("over")
    if not found:
        return None
    ctx.plain = ctx.plain | {*found.values()}
    assigned: list[ast.stmt] = [
        ast.copy_location(ast.Assign([_at(node, name, ast.Store())], _value(ctx, node)), node)
        for node, name in found.items()
    ]
    names = {node: _at(node, name, ast.Load()) for node, name in found.items()}
    made = ast.For(loop.target, _replaced(loop.iter, names), loop.body, loop.orelse)
    if loop in ctx.flags:
        ctx.flags[made] = ctx.flags[loop]
    return [*assigned, ast.copy_location(made, loop)]


def _iterables(ctx: Context, node: ast.expr) -> list[ast.expr]:
    """What a loop runs over, inside of ``enumerate``, ``zip`` and ``reversed``."""
    match node:
        case ast.Call(func=ast.Name() as func):
            called = ctx.evaluate(func)
            if called in _AROUND:
                return [part for arg in node.args for part in _iterables(ctx, arg)]
            is_loop = called is range or called is itertools.product or called is grid
            return [] if is_loop else [node]
        case ast.Call(func=ast.Attribute(attr="grid" | "product" | "ndindex")):
            return []
        case (
            ast.BinOp()
            | ast.UnaryOp()
            | ast.Compare()
            | ast.Subscript()
            | ast.Call()
            | ast.Attribute(attr="T")
            | ast.Tuple()
            | ast.List()
        ):
            return [node]
    return []


def _is_computed(ctx: Context, node: ast.expr) -> bool:
    """Whether an expression is an array of one dimension, and no part of one that there is; found on trial."""
    is_operation = isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare)
    shape = computed_shape(ctx, node, strict=is_operation)
    return shape is not None and len(shape) == 1


def _kept(ctx: Context, node: ast.expr, loop: ast.For) -> Iterator[ast.expr]:
    """The values of a list that the loop may change: Python has computed all of them before its first iteration."""
    if isinstance(node, ast.Tuple | ast.List):
        for part in node.elts:
            yield from _kept(ctx, part, loop)
    elif constant_of(ctx, node) is None and _may_change(ctx, node, loop):
        yield node


def _may_change(ctx: Context, node: ast.expr, loop: ast.For) -> bool:
    if not isinstance(node, ast.Name):
        return True
    found = ctx.names.find(node.id)
    return not isinstance(found, LoopName) and node.id in stored_in(loop.body)


def _row(ctx: Context, node: ast.expr) -> ArrayExpr | None:
    """What an expression is as a row at a subscript that is data, ``m[p & 7]``; None of all others."""
    return data_row(ArrayExprs(ctx, node), node) if isinstance(node, ast.Subscript) else None


def _is_kept_row(ctx: Context, node: ast.expr, loop: ast.For) -> bool:
    """Whether it is such a row of one dimension, of an array of which the loop's body says nothing: nothing tells the
    row from a copy then.
    """
    row = _row(ctx, node)
    if row is None or len(row.shape) != 1:
        return False
    array = _array(ctx, node)
    own = {n.id for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name)}
    known = {name: part_of(ctx, ctx.names.constant(name)) for name in own}
    others = {p[0].array for p in known.values() if p is not None}
    return array is not None and array not in own and array not in others


def _array(ctx: Context, node: ast.expr) -> str | None:
    base = node
    while isinstance(base, ast.Subscript):
        base = base.value
    part = part_of(ctx, ctx.evaluate(base))
    return None if part is None else part[0].array


def _value(ctx: Context, node: ast.expr) -> ast.expr:
    """The expression, of a row its elements as they are then."""
    if _row(ctx, node) is None or _is_computed(ctx, node):
        return node
    called = ast.copy_location(ast.Attribute(node, "copy", ast.Load()), node)
    return ast.copy_location(ast.Call(called, [], []), node)


def _replaced(node: ast.expr, names: dict[ast.expr, ast.expr]) -> ast.expr:
    if node not in names and isinstance(node, ast.Tuple | ast.List):
        elts = [_replaced(part, names) for part in node.elts]
        return ast.copy_location(ast.List(elts, ast.Load()), node)
    if node in names or not isinstance(node, ast.Call):
        return names.get(node, node)
    args = [_replaced(arg, names) for arg in node.args]
    return ast.copy_location(ast.Call(node.func, args, node.keywords), node)


def _at(node: ast.expr, name: str, how: ast.expr_context) -> ast.expr:
    return ast.copy_location(ast.Name(name, how), node)
