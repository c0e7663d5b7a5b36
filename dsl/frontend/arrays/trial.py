"""What an expression is as an array, found on trial: nothing of it is read for good."""

from __future__ import annotations

import ast
import copy

from dsl.errors.errors import LanguageError
from dsl.frontend.arrays.expressions import ArrayExprs
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.shapes import Shape
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Ahead, Context


def computed_shape(ctx: Context, node: ast.expr, *, strict: bool = False) -> Shape | None:
    """The shape of an array that is computed, ``x[1:] - x[:-1]``; None of a number, and of an array that there is.

    Raises:
        LanguageError: where it is ``strict``, what is wrong with the expression; else it has no shape then.
    """
    if not _has_arrays(ctx, node):
        return None
    before = ctx.names, dict(ctx.statements), dict(ctx.flags), ctx.ahead
    ctx.names, ctx.ahead = copy.deepcopy(ctx.names), Ahead()
    try:
        found = ArrayExprs(ctx, node).of(node) if view_of(ctx, node) is None else None
    except LanguageError:
        if strict:
            raise
        return None  # who reads it for good says what is wrong with it
    finally:
        ctx.names, ctx.statements, ctx.flags, ctx.ahead = before
    return None if found is None else found.shape


def _has_arrays(ctx: Context, node: ast.AST) -> bool:
    """Whether an array, or a part of one that is no element, is named there: most expressions are of numbers."""
    base, places = node, list[ast.expr]()
    while isinstance(base, ast.Subscript):
        key = base.slice
        places += key.elts if isinstance(key, ast.Tuple) else [key]
        base = base.value
    if isinstance(base, ast.Name):
        part = part_of(ctx, ctx.names.find(base.id) or ctx.names.constant(base.id))
        if part is None:
            return any(_has_arrays(ctx, p) for p in places)
        whole = len(places) == len(part[1].shape)
        return not whole or any(isinstance(p, ast.Slice) or _has_arrays(ctx, p) for p in places)
    parts = ast.iter_child_nodes(node)
    return any(_has_arrays(ctx, p) for p in parts)
