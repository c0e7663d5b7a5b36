"""Functions inside of a kernel: ``def`` and ``f = lambda``, taken out of its body before that is read."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

Definition = ast.FunctionDef | ast.Lambda


def taken_out(node: ast.FunctionDef) -> dict[str, Definition]:
    """The functions that a kernel defines, by name, which its body is left without.

    One whose name is assigned otherwise as well stays where it is, and so does one with a decorator.
    """
    stores = Counter(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    )
    stores.update(n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef))
    stores.update(a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg))
    found: dict[str, Definition] = {}
    node.body = _without(node.body, stores, found)
    return found


def _without(
    statements: Sequence[ast.stmt], stores: Counter[str], found: dict[str, Definition]
) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for s in statements:
        match s:
            case ast.FunctionDef(name=name, decorator_list=[]) if stores[name] == 1:
                found[name] = s
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value) if (
                stores[name] == 1
            ):
                found[name] = value
                continue
            case ast.For() | ast.If() | ast.While():
                s.body = _without(s.body, stores, found)
                s.orelse = _without(s.orelse, stores, found) if s.orelse else []
        kept.append(s)
    return kept or [ast.copy_location(ast.Pass(), statements[0])]


def only_expression(node: Definition) -> ast.expr | None:
    """The expression that a function returns, where it does nothing else."""
    if isinstance(node, ast.Lambda):
        return node.body
    body = node.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    match body:
        case [ast.Return(value=ast.expr() as value)] if not isinstance(value, ast.Tuple):
            return value
    return None


def stored_in(node: ast.AST) -> set[str]:
    """The names that are assigned in it."""
    return {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
