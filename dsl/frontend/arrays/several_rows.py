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
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.arrays.trial import computed_shape
from dsl.frontend.context import Context
from dsl.frontend.syntax.bases import base_of


def several_rows(ctx: Context, node: ast.stmt) -> list[ast.stmt] | None:
    """The assignments one by one; None of any other statement.

    Raises:
        LanguageError: W142 other numbers of rows on both sides.
    """
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    match node.targets[0], node.value:
        case ast.Tuple(elts=goals), ast.Tuple(elts=parts) if len(goals) == len(parts):
            fresh = [_is_copy(p) or computed_shape(ctx, p) is not None for p in parts]
            views = [
                not f and _is_part(ctx, g, p) for g, f, p in zip(goals, fresh, parts, strict=True)
            ]
            if not any(fresh) and not any(views):
                return None
            _check_views(ctx, goals, parts, views)
            return _one_by_one(ctx, node, goals, parts, views)
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
    return _one_by_one(ctx, node, goals, parts, [False] * len(parts))


def _is_copy(node: ast.expr) -> bool:
    """Whether it is ``x.copy()``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="copy"), args=[], keywords=[]):
            return True
    return False


def _is_part(ctx: Context, goal: ast.expr, node: ast.expr) -> bool:
    """Whether a part of an array, such as ``A[0]``, or an array is assigned to another one, and no copy of it."""
    if not isinstance(node, ast.Subscript) and not isinstance(goal, ast.Subscript):
        return False
    part = part_of(ctx, view_of(ctx, node))
    return part is not None and bool(part[1].shape)


def _check_views(
    ctx: Context, goals: list[ast.expr], parts: list[ast.expr], views: list[bool]
) -> None:
    """Refuse what reads a part behind the assignment of another one of the same array, as NumPy does."""
    changed: set[str] = set()
    for goal, part, is_view in zip(goals, parts, views, strict=True):
        base = _base(part)
        if is_view and base in changed:
            text = ctx.source.text(part)
            message = f"{text} is no copy: NumPy reads it when '{base}' has been assigned before it"
            raise ctx.error("W153", message, part, f"write {text}.copy()")
        changed.add(_base(goal))


def _base(node: ast.expr) -> str:
    return ast.unparse(base_of(node))


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
    ctx: Context,
    node: ast.Assign,
    goals: list[ast.expr],
    parts: list[ast.expr],
    views: list[bool],
) -> list[ast.stmt]:
    """Each value in an array or a scalar of its own, then their assignments; views are read by theirs."""
    exprs = ArrayExprs(ctx, node)
    first: list[ast.stmt] = []
    then: list[ast.stmt] = []
    for goal, part, is_view in zip(goals, parts, views, strict=True):
        if is_view:
            then.append(exprs.at(ast.Assign([goal], part)))
            continue
        is_array = _is_copy(part) or computed_shape(ctx, part) is not None
        value = part
        if not is_array and exprs.of(part) is not None:
            value = _copied(exprs, part)
        name = ctx.names.unique("held")
        ctx.plain = ctx.plain | {name}
        first.append(exprs.at(ast.Assign([exprs.at(ast.Name(name, ast.Store()))], value)))
        held: ast.expr = exprs.at(ast.Name(name, ast.Load()))
        if is_array and isinstance(goal, ast.Name):
            held = _copied(exprs, held)  # a new array, and no other name of this one
        then.append(exprs.at(ast.Assign([goal], held)))
    return [*first, *then]


def _copied(exprs: ArrayExprs, node: ast.expr) -> ast.expr:
    return exprs.at(ast.Call(exprs.at(ast.Attribute(node, "copy", ast.Load())), [], []))
