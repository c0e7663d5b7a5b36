"""Rows at a subscript that is data: ``table[token]``, ``sums[label] += points[i]``, ``m[:, k]``.

Which row it is nobody knows before, so it is no part that has a name or is passed; each of its elements is one at data.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dsl.expressions import values
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Expr
from dsl.expressions.types import IntType
from dsl.frontend.arrays.parts import part_of
from dsl.frontend.arrays.shapes import ArrayExpr, Exprs
from dsl.frontend.arrays.slices import is_new_dimension, view_of
from dsl.programs.inline import Slice
from dsl.programs.program import Array

_PURE = (min, max, abs, int)


def data_row(exprs: Exprs, node: ast.expr, use: ast.expr_context | None = None) -> ArrayExpr | None:
    """Such a part of an array; None of all others, and of what a name stands for that is itself a part.

    Args:
        exprs: of the statement.
        node: the part.
        use: of its elements, to be read unless it says otherwise.
    """
    ctx = exprs.ctx
    parts: list[ast.expr] = []
    base = node
    while isinstance(base, ast.Subscript):
        own = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
        if parts and any(isinstance(part, ast.Slice) for part in own):
            return None
        parts[:0] = own
        base = base.value
    if not parts or not isinstance(base, ast.Name) or any(map(is_new_dimension, parts)):
        return None
    array = ctx.evaluate(base)
    rank = len(array.shape) if isinstance(array, Array) else 0
    is_element = len(parts) == rank and not any(isinstance(part, ast.Slice) for part in parts)
    if not isinstance(array, Array) or len(parts) > rank or is_element:
        return None
    calls = [n for part in parts for n in ast.walk(part) if isinstance(n, ast.Call)]
    if use is not None and any(ctx.evaluate(c.func) not in _PURE for c in calls):
        return None  # Python calls what the value calls first
    data = [d for d, part in enumerate(parts) if _is_data(exprs, part)]
    if not data:
        return None
    zero = exprs.given(Affine())
    known = [zero if d in data else part for d, part in enumerate(parts)]
    key = exprs.at(ast.Tuple(known, ast.Load()))
    view = view_of(ctx, exprs.at(ast.Subscript(base, key, ast.Load())))
    found = part_of(ctx, view)
    if view is None or found is None:
        return None  # an element

    def at(places: Sequence[Affine]) -> ast.expr:
        indices = [
            parts[d] if d in data else exprs.given(place)
            for d, place in enumerate(view.placed(tuple(places)))
        ]
        whole = exprs.given(array, ast.Name(array.name, ast.Load()))
        made = exprs.at(ast.Tuple(indices, ast.Load()))
        return exprs.at(ast.Subscript(whole, made, use or ast.Load()))

    return ArrayExpr(tuple(d.extent for d in view.dims if isinstance(d, Slice)), at)


def _is_data(exprs: Exprs, part: ast.expr) -> bool:
    """Whether a subscript is a number that is data."""
    if (
        isinstance(part, ast.Slice | ast.Constant | ast.List | ast.Tuple)
        or exprs.of(part) is not None
    ):
        return False
    found = exprs.ctx.evaluate(part)
    is_integer = isinstance(found, Expr) and isinstance(found.dtype, IntType)
    return is_integer and values.as_affine(found) is None  # type: ignore[arg-type]
