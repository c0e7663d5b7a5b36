"""The integers of a loop tree, in a fixed order: bounds, steps, trip counts, coefficients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from dsl.expressions.affine import Affine, Constraint, FloorDiv
from polyhedral.looptree.tree import Instance, TreeGuard, TreeLoop, TreeNode, TripCount


def rebuilt(nodes: tuple[TreeNode, ...], number: Callable[[int], int]) -> tuple[TreeNode, ...]:
    """The nodes with every integer replaced, in a fixed order."""
    return tuple(_node(n, number) for n in nodes)


def _node(node: TreeNode, number: Callable[[int], int]) -> TreeNode:
    match node:
        case TreeLoop(trip=trip):
            lowers = tuple(_affine(b, number) for b in node.lowers)
            uppers = tuple(_affine(b, number) for b in node.uppers)
            step = number(node.step)
            if trip is not None:
                trip = TripCount(number(trip.minimum), number(trip.maximum), trip.average)
            body = rebuilt(node.body, number)
            return replace(node, lowers=lowers, uppers=uppers, step=step, trip=trip, body=body)
        case TreeGuard(constraints, body):
            held = tuple(Constraint(_affine(c.expr, number), c.kind) for c in constraints)
            return TreeGuard(held, rebuilt(body, number))
        case Instance(bindings=bindings):
            return replace(node, bindings=tuple((v, _affine(e, number)) for v, e in bindings))
        case _:
            assert_never(node)


def _affine(e: Affine, number: Callable[[int], int]) -> Affine:
    terms = tuple((_atom(a, number), number(c)) for a, c in e.terms)
    return Affine(terms, number(e.const))


def _atom(atom: str | FloorDiv, number: Callable[[int], int]) -> str | FloorDiv:
    if isinstance(atom, str):
        return atom
    return FloorDiv(_affine(atom.numerator, number), number(atom.denominator))


def integers_of(nodes: tuple[TreeNode, ...]) -> tuple[int, ...]:
    """Every integer, in the order of `rebuilt`."""
    found: list[int] = []

    def note(value: int) -> int:
        found.append(value)
        return value

    rebuilt(nodes, note)
    return tuple(found)


def loops_in(nodes: tuple[TreeNode, ...]) -> tuple[TreeLoop, ...]:
    """Every loop below, parents first."""
    found: list[TreeLoop] = []
    for node in nodes:
        if isinstance(node, TreeLoop):
            found.append(node)
        if not isinstance(node, Instance):
            found += loops_in(node.body)
    return tuple(found)


def spans(nodes: tuple[TreeNode, ...]) -> tuple[tuple[int, int, int], ...]:
    """Where the integers and the loops of each node begin."""
    found = []
    place = position = 0
    for node in nodes:
        end = place + len(integers_of((node,)))
        found.append((place, end, position))
        place, position = end, position + len(loops_in((node,)))
    return tuple(found)


def upper_places(nodes: tuple[TreeNode, ...]) -> list[int]:
    """For each loop the place of its (constant) first upper bound among the integers."""
    found: list[int] = []
    place = 0

    def visit(node: TreeNode) -> None:
        nonlocal place
        if isinstance(node, TreeLoop):
            head = replace(node, uppers=(), trip=None, body=())
            found.append(place + len(integers_of((head,))) - 1)  # behind it comes the step
            place += len(integers_of((replace(node, body=()),)))
        elif isinstance(node, TreeGuard):
            place += len(integers_of((TreeGuard(node.constraints, ()),)))
        else:
            place += len(integers_of((node,)))
            return
        for inner in node.body:
            visit(inner)

    for node in nodes:
        visit(node)
    return found
