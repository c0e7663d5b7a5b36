"""Rows that are assigned several at once, as in a swap of two of them: each is kept in an array of its own first.

Before::

    A[[k, p]] = A[[p, k]]
    x[0], x[1] = x[1].copy(), x[0].copy()

After::

    held = A[p].copy()
    held_2 = A[k].copy()
    A[k] = held
    A[p] = held_2
"""

from __future__ import annotations

import ast
import copy

from dsl.frontend.arrays.expressions import ArrayExprs
from dsl.frontend.context import Context


def several_rows(ctx: Context, node: ast.stmt) -> list[ast.stmt] | None:
    """The assignments one by one; None of any other statement.

    Raises:
        LanguageError: W142 other numbers of rows on both sides.
    """
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    match node.targets[0], node.value:
        case ast.Tuple(elts=goals), ast.Tuple(elts=parts) if len(goals) == len(parts) and any(
            map(_is_copy, parts)
        ):
            pass
        case ast.Subscript() as target, ast.Subscript() as value:
            listed, given = _listed(target), _listed(value)
            if listed is None or given is None:
                return None
            goals, parts = listed, given
            if len(goals) != len(parts):
                message = f"{len(parts)} rows are assigned to {len(goals)}"
                raise ctx.error("W142", message, node, "write as many rows on both sides")
        case _:
            return None
    return _one_by_one(ctx, node, goals, parts)


def _is_copy(node: ast.expr) -> bool:
    """Whether it is ``x.copy()``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="copy"), args=[], keywords=[]):
            return True
    return False


def _listed(node: ast.Subscript) -> list[ast.expr] | None:
    """The rows of ``A[[k, p]]`` and ``A[[k, p], 2:]``; None of all other subscripts."""
    key = node.slice
    first, rest = (
        (key.elts[0], key.elts[1:]) if isinstance(key, ast.Tuple) and key.elts else (key, [])
    )
    if not isinstance(first, ast.List) or any(isinstance(r, ast.List) for r in rest):
        return None
    rows: list[ast.expr] = []
    for row in first.elts:
        index: ast.expr = row
        if rest:
            made = ast.Tuple([row, *copy.deepcopy(rest)], ast.Load())
            index = ast.copy_location(made, row)
        base = copy.deepcopy(node.value)
        rows.append(ast.copy_location(ast.Subscript(base, index, node.ctx), node))
    return rows


def _one_by_one(
    ctx: Context, node: ast.Assign, goals: list[ast.expr], parts: list[ast.expr]
) -> list[ast.stmt]:
    exprs = ArrayExprs(ctx, node)
    first: list[ast.stmt] = []
    then: list[ast.stmt] = []
    for goal, part in zip(goals, parts, strict=True):
        value = part
        if not _is_copy(part) and exprs.of(part) is not None:
            value = exprs.at(ast.Call(exprs.at(ast.Attribute(part, "copy", ast.Load())), [], []))
        name = ctx.names.unique("held")
        ctx.plain = ctx.plain | {name}
        first.append(exprs.at(ast.Assign([exprs.at(ast.Name(name, ast.Store()))], value)))
        then.append(exprs.at(ast.Assign([goal], exprs.at(ast.Name(name, ast.Load())))))
    return [*first, *then]
