"""Choices that guard a read, ``x[i - 1] if i > 0 else 0``: both sides are computed, so that one is outside of the array.

Before::

    y[i] = x[i] + (x[i - 1] if i > 0 else 0)

After::

    if i > 0:
        before = x[i - 1]
    else:
        before = 0
    y[i] = x[i] + before
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dsl.errors.errors import LanguageError
from dsl.expressions import typing, values
from dsl.expressions.expr import Access, Expr, Load, loads
from dsl.expressions.types import IndexType, IntType
from dsl.expressions.values import Value
from dsl.frontend.ahead import put_ahead
from dsl.frontend.context import Context
from dsl.programs.program import Array


def reads_outside(ctx: Context, of: Expr) -> bool:
    """Whether an expression reads at affine subscripts that are outside of the array for some iteration around."""
    ranges = ctx.names.ranges()
    for access in loads(of):
        array = ctx.names.find(access.array)
        if not isinstance(array, Array) or len(access.indices) != len(array.shape):
            continue
        for index, extent in zip(access.indices, array.shape, strict=True):
            if not index.is_data:
                low, high = index.interval(ranges)
                if low < 0 or high >= extent:
                    return True
    return False


def chosen_ahead(ctx: Context, node: ast.IfExp, found: Value) -> Load | None:
    """The local that ``if`` and ``else`` in front of the statement assign; None where they cannot stand there."""
    value = values.operand(found)
    if not isinstance(value, Expr):
        return None
    dtype = typing.settled(value, ctx.span(node)).dtype
    dtype = IntType(32) if isinstance(dtype, IndexType) else dtype
    local = ctx.names.made("chosen", dtype, ctx.span(node))
    start = len(ctx.ahead.nodes)
    nodes = ctx.read(_placed(node, local.name))
    try:
        put_ahead(ctx, node, nodes, Load(Access(local.name, (), ctx.span(node)), dtype))
    except LanguageError:
        del ctx.ahead.nodes[start:]
        return None
    known = ctx.ahead.known[node]
    assert isinstance(known, Load)
    return known


def _placed(node: ast.IfExp, name: str) -> ast.If:
    branches: list[ast.stmt] = [
        ast.Assign([ast.Name(name, ast.Store())], side) for side in (node.body, node.orelse)
    ]
    made = ast.If(node.test, branches[:1], branches[1:])
    for part in _made(made):
        ast.copy_location(part, node)
    return made


def _made(of: ast.If) -> Iterator[ast.stmt | ast.expr]:
    for part in ast.walk(of):
        if isinstance(part, ast.stmt | ast.expr) and not hasattr(part, "lineno"):
            yield part
