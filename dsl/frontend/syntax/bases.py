"""What a chain of subscripts is of."""

from __future__ import annotations

import ast


def base_of(node: ast.expr) -> ast.expr:
    """``A`` of ``A[i][j, 2:]``; the node itself where nothing is subscripted."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node
