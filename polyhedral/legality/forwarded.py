"""The value of a statement, with what statements in front of it have computed in the same iteration in its place."""

from __future__ import annotations

from dsl.expressions import typing
from dsl.expressions.expr import Const, Expr, Index, Load, Scatter, loads, map_leaves, walk
from dsl.programs.program import Loop, Stmt, has_statement, statements_in

LARGEST = 64  # nodes of an expression that is computed twice


def forwarded(stmt: Stmt, loop: Loop) -> Expr:
    """The value of a statement of a loop, of as few elements as possible that the loop assigns to.

    Those of its own array stay as they are.
    """
    place = next(n for n, node in enumerate(loop.body) if has_statement(node, stmt.name))
    return _forwarded(stmt.value, place, loop, stmt.target.array)


def _forwarded(value: Expr, place: int, loop: Loop, own: str) -> Expr:
    def leaf(expr: Const | Load | Index) -> Expr:
        if not isinstance(expr, Load) or expr.access.array == own:
            return expr
        found = _source(expr, place, loop)
        if found is None:
            return expr
        number, source = found
        new = _forwarded(source.value, number, loop, own)
        if any(access.array == expr.access.array for access in loads(new)):
            return expr  # what it had before is not known there
        small = sum(1 for _ in walk(new)) <= LARGEST
        return typing.cast(expr.dtype, new) if small else expr

    return map_leaves(value, leaf)


def _source(load: Load, place: int, loop: Loop) -> tuple[int, Stmt] | None:
    """The statement in front that has computed what is loaded, of operands that are still the same, and its place."""
    changed: set[str] = {s.target.array for s in statements_in(loop.body[place])}
    if load.access.array in changed and not isinstance(loop.body[place], Stmt):
        return None
    if isinstance(loop.body[place], Stmt):
        changed = set()
    for number in range(place - 1, -1, -1):
        node = loop.body[number]
        if isinstance(node, Stmt) and node.target == load.access:
            operands = {access.array for access in loads(node.value)}
            kept = not operands & changed
            return (number, node) if kept and not isinstance(node.value, Scatter) else None
        changed |= {s.target.array for s in statements_in(node)}
        if load.access.array in changed:
            return None
    return None
