"""Comparisons of tuples of constants: ``x.shape == (8, 4)``."""

from __future__ import annotations

import ast

from dsl.frontend.context import Context


def same_tuples(ctx: Context, node: ast.Compare) -> bool | None:
    """Whether such a comparison holds; None of what compares no tuples."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            pass
        case _:
            return None
    if not any(isinstance(side, ast.Attribute) for side in (left, right)):
        return None
    a, b = (
        tuple(map(ctx.evaluate, n.elts)) if isinstance(n, ast.Tuple) else ctx.evaluate(n)
        for n in (left, right)
    )
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return None
    return (a == b) is isinstance(op, ast.Eq)
