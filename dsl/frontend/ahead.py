"""What is computed in front of a statement for an expression in it: calls of kernels, sums over loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dsl.expressions.expr import Access, Expr, Load
from dsl.expressions.guarded import harmless
from dsl.expressions.types import boolean
from dsl.frontend.context import Context
from dsl.programs.program import Node, statements_in


def put_ahead(ctx: Context, node: ast.expr, nodes: Sequence[Node], found: object) -> None:
    """Put ``nodes`` in front of the statement that is read; they compute ``found``, which ``node`` stands for.

    Raises:
        LanguageError: W153 they would fail where Python does not compute them.
    """
    stmts = [s for n in nodes for s in statements_in(n)]
    if ctx.ahead.conditional and any(_may_fail(s.value) for s in stmts):
        message = (
            f"{ctx.source.text(node)} is computed on a condition, and would fail where that does not hold: it "
            "divides or shifts by data"
        )
        raise ctx.error("W153", message, node, "compute it in a statement under 'if'")
    ctx.ahead.nodes += nodes
    ctx.ahead.known[node] = found


def _may_fail(expr: Expr) -> bool:
    """Whether there are operands for which it has no value."""
    asked = Load(Access("?", ()), boolean)
    return harmless(expr, asked, True) != expr
