"""``:=`` put into a statement of its own, where Python evaluates it whatever the rest of the expression is.

Before::

    if (d := x[i] - 3) > 0:
        y[i] = d

After::

    d = x[i] - 3
    if d > 0:
        y[i] = d
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dsl.frontend.syntax.certain import certain


def without_walrus(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements with ``:=`` in front of them; one that is evaluated on a condition stays where it is."""
    found: list[ast.stmt] = []
    for s in statements:
        for name in ("body", "orelse"):
            inner = getattr(s, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(s, name, without_walrus(inner))
        for case in getattr(s, "cases", ()):
            case.body = without_walrus(case.body)
        found += _in_front(s)
        found.append(s)
    return found


def _in_front(s: ast.stmt) -> Iterator[ast.stmt]:
    match s:
        case ast.If(test=of):
            field = "test"
        case ast.Assign(value=of) | ast.Expr(value=of) | ast.Return(value=ast.expr() as of):
            field = "value"
        case ast.AugAssign(value=of) if not _stored(of) & _named(s.target):
            field = "value"
        case _:
            return
    made = [n for n in certain(of) if isinstance(n, ast.NamedExpr)]
    every = [n for n in ast.walk(of) if isinstance(n, ast.NamedExpr)]
    if len(made) != len(every) or any(_is_read_before(n, of) for n in made):
        return
    for n in made:
        assert isinstance(n.target, ast.Name)
        target = ast.copy_location(ast.Name(n.target.id, ast.Store()), n)
        yield ast.copy_location(ast.Assign([target], n.value), n)
    setattr(s, field, _Names().visit(of))


def _stored(node: ast.AST) -> set[str]:
    return {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}


def _named(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


class _Names(ast.NodeTransformer):
    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)


def _is_read_before(made: ast.NamedExpr, of: ast.expr) -> bool:
    """Whether what it assigns, or an element, is read in front of it in the expression."""
    place = (made.lineno, made.col_offset)
    return any(
        isinstance(n, ast.Name)
        and isinstance(n.ctx, ast.Load)
        and n.id == made.target.id
        and (n.lineno, n.col_offset) < place
        for n in ast.walk(of)
    )
