"""Names of parts of arrays that become names of new arrays: ``h = x`` and then ``h = np.maximum(W @ h, 0)``.

Before::

    h = x
    h = W @ h

After::

    h = W @ x

In a loop the next iteration would begin with the new array, so that ``h = x.copy()`` is to be written in front of it.
"""

from __future__ import annotations

import ast
import copy

from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context
from dsl.programs.inline import View


def of_view(ctx: Context, target: ast.Name, source: ast.expr) -> ast.expr:
    """The value of the new array, in which the name is the part that it has stood for."""
    made = copy.deepcopy(source)
    for old, new in zip(ast.walk(source), ast.walk(made), strict=True):
        if isinstance(new, ast.expr) and isinstance(old, ast.expr):
            if old in ctx.given:
                ctx.given[new] = ctx.given[old]
            elif isinstance(new, ast.Name) and new.id == target.id:
                ctx.given[new] = ctx.names.constant(target.id)
    return made


def check_name_of_view(ctx: Context, target: ast.Name) -> None:
    """Refuse a new array in a loop under the name of a part of an array in front of it (W134)."""
    if not isinstance(ctx.names.constant(target.id), View) or ctx.names.can_bind(target.id):
        return
    message = f"'{target.id}' is the name of another array in what is around this loop"
    raise ctx.error("W134", message, target, _instead(ctx, target.id))


def check_one_array(ctx: Context, target: ast.Name, source: ast.expr) -> None:
    """Refuse a name of a part of an array that is a name of another one where a condition holds (W142)."""
    is_clear = target.id in ctx.plain or target.id in ctx.once
    if is_clear or ctx.names.find(target.id) is not None:
        return
    if not isinstance(source, ast.Name | ast.Subscript) or view_of(ctx, source) is None:
        return
    message = (
        f"'{target.id}' is the name of this array or of another one, which a condition decides"
    )
    raise ctx.error(
        "W142", message, target, f"write {target.id} = {ctx.source.text(source)}.copy()"
    )


def _instead(ctx: Context, name: str) -> str:
    for n in ast.walk(ctx.source.node):
        match n:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                text = ctx.source.text(value)
                return f"write {name} = {text}.copy() in front of the loop"
    return "give the new array another name"
