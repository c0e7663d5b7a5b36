"""Loops whose bounds move with loops around them, as whole rectangles whose iterations run under guards.

A pipeline fills and drains anew for each row of a triangle, its loops cannot be exchanged with those that bound
them, and no block of them is whole::

    for i in range(64):
      for j in range(i):
        S(i, j)

As a rectangle, twice the iterations are one pipeline, in any order of the loops, with any factors::

    for i in range(64):
      for j in range(64):
        if j < i:
          S(i, j)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

from dse.space.nests.nest import Nest, Order
from dsl.schedules.steps import Split, Step
from polyhedral.schedule import tried
from polyhedral.scop.ranges import constant_interval, whole_range
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop

_CHAIN = 128  # copies that wait for one another in place: each has to be told from all before it
_IDLE = 8  # iterations of a rectangle for each that there is work in, at most


def in_rectangles(
    state: ScheduledScop, before: tuple[Step, ...], counts: Mapping[str, int | None]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with each loop of variable bounds over the whole range that it has in any of its executions.

    A block of that many iterations is all there are, so that what moves is a guard only. The program is as it
    is where no loop varies, or where most of a rectangle would be idle.

    Args:
        state: a structure.
        before: the steps that made it.
        counts: how often each statement of the kernel runs.
    """
    steps = before
    for ref, uid in list(_varying(state)):
        pieces = [(p, level) for p in state.pieces if (level := p.level(uid)) is not None]
        found = whole_range(pieces)
        if found is None or found.extent < 2:
            continue
        moved = tried(state, step := Split(ref, found.extent, tail="guard"))
        if moved is not None and all(_busy(p, counts) for p in moved.pieces):
            state, steps = moved, (*steps, step)
    return state, steps


def short_chains(nests: tuple[Nest, ...], most: int = _CHAIN) -> tuple[Nest, ...]:
    """The nests with few enough copies of loops that hand on what is no tree."""
    return tuple(
        replace(nest, orders=tuple(_short(order, most) for order in nest.orders)) for nest in nests
    )


def _short(order: Order, most: int) -> Order:
    chained = (any(not carry.tree for carry in loop.carries) for loop in order.loops)
    pairs = zip(order.loops, chained, strict=True)
    return replace(order, loops=tuple(replace(x, most=most) if c else x for x, c in pairs))


def _varying(state: ScheduledScop) -> Iterator[tuple[str, LoopId]]:
    """The loops without a constant range, outer ones first."""
    seen: set[LoopId] = set()
    for piece in state.pieces:
        for dim in piece.dims:
            if dim.uid not in seen:
                seen.add(dim.uid)
                mine = [(p, k) for p in state.pieces if (k := p.level(dim.uid)) is not None]
                if any(constant_interval(p, k) is None for p, k in mine):
                    yield f"{piece.name}.{dim.name}", dim.uid


def _busy(piece: Piece, counts: Mapping[str, int | None]) -> bool:
    """Whether enough of the iterations of a rectangle do something."""
    ranges = [whole_range([(piece, level)]) for level in range(len(piece.dims))]
    whole = prod(r.extent if r is not None else 1 for r in ranges)
    return whole <= _IDLE * (counts.get(piece.name, whole) or 0)
