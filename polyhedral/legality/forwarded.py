"""The value of a statement, with what statements in front of it have computed in the same iteration in its place.

What two branches of a condition on loop variables have computed is one or the other: the value has two ways.
"""

from __future__ import annotations

from dsl.expressions import typing
from dsl.expressions.affine import Cond
from dsl.expressions.expr import Const, Expr, Index, Load, Scatter, loads, map_leaves, walk
from dsl.programs.program import If, Loop, Node, Stmt, has_statement, statements_in

LARGEST = 64  # nodes of an expression that is computed twice
MOST = 2  # conditions that a value depends on


def forwarded(stmt: Stmt, loop: Loop) -> Expr:
    """The value of a statement of a loop, of as few elements as possible that the loop assigns to.

    Those of its own array stay as they are.
    """
    place = next(n for n, node in enumerate(loop.body) if has_statement(node, stmt.name))
    return _forwarded(stmt.value, place, loop, stmt.target.array)


Way = tuple[Expr, tuple[tuple[Cond, bool], ...]]
"""A value, and the conditions under which it is that one."""


def ways(stmt: Stmt, loop: Loop) -> list[Way]:
    """The value of a statement of a loop as `forwarded` has it, for each branch of conditions that it depends on.

    Where it depends on none the value is the only way, under no condition.
    """
    place = next(n for n, node in enumerate(loop.body) if has_statement(node, stmt.name))
    return _ways(forwarded(stmt, loop), place, loop, stmt.target.array, MOST)


def _ways(value: Expr, place: int, loop: Loop, own: str, most: int) -> list[Way]:
    for load in [expr for expr in walk(value) if isinstance(expr, Load)] if most else ():
        found = None if load.access.array == own else _branches(load, place, loop, own)
        if found is None:
            continue
        cond, sides = found
        return [
            (way, ((cond, holds), *under))
            for side, holds in zip(sides, (True, False), strict=True)
            for way, under in _ways(_replaced(value, load, side), place, loop, own, most - 1)
        ]
    return [(value, ())]


def _replaced(value: Expr, load: Load, new: Expr) -> Expr:
    new = typing.cast(load.dtype, new)
    return map_leaves(value, lambda leaf: new if leaf == load else leaf)


def _branches(
    load: Load, place: int, loop: Loop, own: str
) -> tuple[Cond, tuple[Expr, Expr]] | None:
    """The condition in front whose branches have computed what is loaded, of operands that are still the same, and what
    each has: a branch that computes nothing what was there before.
    """
    changed: set[str] = set()
    for number in range(place - 1, -1, -1):
        node = loop.body[number]
        if isinstance(node, If) and any(s.target == load.access for s in statements_in(node)):
            sides = [_branch(side, load, number, loop, own) for side in (node.then, node.orelse)]
            then, orelse = sides
            if then is None or orelse is None:
                return None
            read = {a.array for side in (then, orelse) for a in loads(side)}
            return None if read & {load.access.array, *changed} else (node.cond, (then, orelse))
        changed |= {s.target.array for s in statements_in(node)}
        if load.access.array in changed:
            return None
    return None


def _branch(side: tuple[Node, ...], load: Load, number: int, loop: Loop, own: str) -> Expr | None:
    """What a branch has computed; None where it is not known."""
    if not side:
        found = _source(load, number, loop, ())
        return None if found is None else _forwarded(found[1].value, found[0], loop, own)
    (stmt, *others) = side
    if others or not isinstance(stmt, Stmt) or stmt.target != load.access:
        return None
    return None if isinstance(stmt.value, Scatter) else _forwarded(stmt.value, number, loop, own)


def _forwarded(
    value: Expr, place: int, loop: Loop, own: str, known: dict[tuple[int, Load], Expr] | None = None
) -> Expr:
    """``known`` is what loads have been found to be at their places: a value may read an element many times."""
    done = {} if known is None else known

    def leaf(expr: Const | Load | Index) -> Expr:
        if not isinstance(expr, Load) or expr.access.array == own:
            return expr
        if (place, expr) not in done:
            done[place, expr] = replacement(expr)
        return done[place, expr]

    def replacement(expr: Load) -> Expr:
        node = loop.body[place]
        inside = (
            () if isinstance(node, Stmt) else tuple(s.target.array for s in statements_in(node))
        )
        found = _source(expr, place, loop, inside)
        if found is None:
            return expr
        number, source = found
        new = _forwarded(source.value, number, loop, own, done)
        if any(access.array == expr.access.array for access in loads(new)):
            return expr  # what it had before is not known there
        small = sum(1 for _ in walk(new)) <= LARGEST
        return typing.cast(expr.dtype, new) if small else expr

    return map_leaves(value, leaf)


def _source(load: Load, place: int, loop: Loop, inside: tuple[str, ...]) -> tuple[int, Stmt] | None:
    """The statement in front that has computed what is loaded, of operands that are still the same, and its place.

    ``inside`` are the arrays that nodes at this place change.
    """
    changed = {*inside}
    if load.access.array in changed:
        return None
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
