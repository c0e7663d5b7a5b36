"""The value of a statement, with what statements in front of it have computed in the same iteration in its place.

What two branches of a condition on loop variables have computed is one or the other: the value has two ways.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.expressions import typing
from dsl.expressions.affine import Cond
from dsl.expressions.expr import Const, Expr, Index, Load, Scatter, loads, map_leaves, walk
from dsl.programs.program import If, Loop, Stmt, has_statement, statements_in

LARGEST = 64  # nodes of an expression that is computed twice


def forwarded(stmt: Stmt, loop: Loop) -> Expr:
    """The value of a statement of a loop, of as few elements as possible that the loop assigns to.

    Those of its own array stay as they are.
    """
    place = next(n for n, node in enumerate(loop.body) if has_statement(node, stmt.name))
    return _forwarded(stmt.value, place, loop, stmt.target.array)


def ways(stmt: Stmt, loop: Loop) -> Iterator[tuple[Expr, tuple[tuple[Cond, bool], ...]]]:
    """The value of a statement of a loop as `forwarded` has it, where a condition holds, and where it does not.

    Where there is none the value is the only way, under no condition.
    """
    value = forwarded(stmt, loop)
    place = next(n for n, node in enumerate(loop.body) if has_statement(node, stmt.name))
    for load in [expr for expr in walk(value) if isinstance(expr, Load)]:
        found = None if load.access.array == stmt.target.array else _branches(load, place, loop)
        if found is None:
            continue
        number, node, sides = found
        for side, holds in zip(sides, (True, False), strict=True):
            new = _forwarded(side.value, number, loop, stmt.target.array)
            if any(access.array == load.access.array for access in loads(new)):
                break
            yield _replaced(value, load, typing.cast(load.dtype, new)), ((node.cond, holds),)
        else:
            return
        break
    yield value, ()


def _replaced(value: Expr, load: Load, new: Expr) -> Expr:
    return map_leaves(value, lambda leaf: new if leaf == load else leaf)


def _branches(load: Load, place: int, loop: Loop) -> tuple[int, If, tuple[Stmt, Stmt]] | None:
    """The condition in front whose branches have each computed what is loaded, of operands that are still the same."""
    changed: set[str] = set()
    for number in range(place - 1, -1, -1):
        node = loop.body[number]
        if isinstance(node, If) and len(node.then) == len(node.orelse) == 1:
            then, orelse = node.then[0], node.orelse[0]
            if not isinstance(then, Stmt) or not isinstance(orelse, Stmt):
                return None
            if then.target == orelse.target == load.access:
                operands = {a.array for side in (then, orelse) for a in loads(side.value)}
                scattered = isinstance(then.value, Scatter) or isinstance(orelse.value, Scatter)
                return None if scattered or operands & changed else (number, node, (then, orelse))
        changed |= {s.target.array for s in statements_in(node)}
        if load.access.array in changed:
            return None
    return None


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
