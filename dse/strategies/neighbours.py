"""Points that differ little from one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from dse.space.nests.nest import Order
from dse.space.space import Choice, Point, Space
from dse.strategies.ladder import longest

_STEPS = (0.06, 0.12, 0.2)  # of an interval


def neighbours(space: Space, point: Point) -> Iterator[Point]:
    """Points that differ in one nest: in a factor by one place of its list, in two factors the
    opposite way, or in the order with the same factors of each loop.
    """
    for n, nest in enumerate(space.variants[point.variant].nests):
        choice = point.choices[n]
        order = nest.orders[choice.order]
        for vector in _stepped(order, choice.vector):
            yield _with(point, n, Choice(choice.order, vector, choice.ii))
        by_name = {loop.name: u for loop, u in zip(order.loops, choice.vector, strict=True)}
        for number, other in enumerate(nest.orders):
            if number != choice.order:
                same = tuple(by_name.get(loop.name, 1) for loop in other.loops)
                if all(u in loop.factors for u, loop in zip(same, other.loops, strict=True)):
                    yield _with(point, n, Choice(number, same, choice.ii))


def shorter_intervals(point: Point) -> Iterator[Point]:
    """Points that ask for up to a fifth less of an interval in one nest."""
    return _intervals(point, -1)


def longer_intervals(space: Space, point: Point) -> Iterator[Point]:
    """Points that ask for up to a fifth more of an interval, where copies share units over several cycles, as far as a
    point may.
    """
    nests = space.variants[point.variant].nests
    most = [
        longest(nest, nest.orders[c.order]) for nest, c in zip(nests, point.choices, strict=True)
    ]
    for near in _intervals(point, 1):
        if all(choice.ii <= m for choice, m in zip(near.choices, most, strict=True)):
            yield near


def _intervals(point: Point, sign: int) -> Iterator[Point]:
    for n, choice in enumerate(point.choices):
        if choice.ii == 1:
            continue
        for ii in dict.fromkeys(choice.ii + sign * ceil(choice.ii * part) for part in _STEPS):
            yield _with(point, n, replace(choice, ii=ii))


def _with(point: Point, nest: int, choice: Choice) -> Point:
    choices = (*point.choices[:nest], choice, *point.choices[nest + 1 :])
    return replace(point, choices=choices)


def _stepped(order: Order, vector: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    up: dict[int, int] = {}
    down: dict[int, int] = {}
    for k, loop in enumerate(order.loops):
        factors = loop.factors
        at = factors.index(vector[k]) if vector[k] in factors else 0
        if at + 1 < len(factors):
            up[k] = factors[at + 1]
        if at:
            down[k] = factors[at - 1]
    for moves in (up, down):
        for k, u in moves.items():
            yield (*vector[:k], u, *vector[k + 1 :])
    for k, u in up.items():
        for other, v in down.items():
            if k != other:
                yield tuple(u if i == k else v if i == other else w for i, w in enumerate(vector))
