"""How many elements arrays, parts of them and captured tables have along a dimension."""

from __future__ import annotations

import ast

from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.slices import view_of
from dsl.frontend.context import Context


def extent_of(ctx: Context, node: ast.expr, dim: int) -> int | None:
    """The extent of what is subscripted; None where it is no array and no table.

    Raises:
        LanguageError: what is wrong with it.
    """
    view = view_of(ctx, node)
    found = ctx.evaluate(node) if view is None else view
    part = part_of(ctx, found)
    if part is not None:
        shape: tuple[int, ...] = part[1].shape
        return shape[dim] if dim < len(shape) else None
    if hasattr(found, "__array__"):
        shape = tuple(getattr(found, "shape", ()))
        return shape[dim] if dim < len(shape) else None
    return len(found) if isinstance(found, tuple | list) and dim == 0 else None
