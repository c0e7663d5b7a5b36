"""Lists that are assigned to parts of arrays: ``y[:] = [f(v) for v in x]``.

Before::

    y[:] = [y[3 - n] for n in range(4)]

After::

    listed = [y[3 - n] for n in range(4)]
    y[:] = listed
"""

from __future__ import annotations

import ast

from dsl.frontend.arrays.shapes import numpy_name
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context


def listed_ahead(ctx: Context, node: ast.stmt) -> tuple[ast.stmt, ...] | None:
    """The two assignments that such a one is; None of any other statement."""
    match node:
        case ast.Assign(targets=[ast.Subscript() as target], value=source) if _is_list(ctx, source):
            pass
        case _:
            return None
    if view_of(ctx, target) is None:
        return None
    name = ctx.names.unique("listed")
    first = ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), source)], source)
    second = ast.Assign([target], ast.copy_location(ast.Name(name, ast.Load()), source))
    return ast.copy_location(first, node), ast.copy_location(second, node)


def _is_list(ctx: Context, source: ast.expr) -> bool:
    """Whether it is a list of expressions, or of lists, which a local array may be declared by."""
    match source:
        case ast.ListComp():
            return True
        case ast.Call(func=func, args=[ast.List() | ast.ListComp(), *_]) if _is_numpy(ctx, func):
            return True
        case ast.List(elts=[ast.List() | ast.ListComp(), *_]):
            return True
    return False


def _is_numpy(ctx: Context, func: ast.expr) -> bool:
    return numpy_name(ctx.evaluate(func)) in ("array", "asarray")
