"""Dynamic programs whose entries need entries of the row before that are a varying number of columns behind.

A row for each item, of which an entry needs one that is as far behind as the item is large::

    for i in range(32):
      for c in range(i + 1, 256):
        K[i + 1, c] = max(K[i, c], K[i, c - i - 1] + value[i])

Along the columns all items are a chain of copies in one iteration, which each have a shift register of their own length
(`carry`), and no copy waits for one of an earlier iteration but through it. Where the rows are one array that is updated
in place, it has a version for each item first: what keeps columns from being outermost is only that they overwrite one
another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dse.space.memory.registers import meets_itself
from dse.space.nests.groups import groups
from dse.space.nests.nest import Nest, Order
from dsl.schedules.recurrence_steps import Versions
from dsl.schedules.steps import Fuse, Reorder, Reverse, Shift, Step
from polyhedral.schedule import tried
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import Piece, ScheduledScop

ROWS = 64
"""Iterations of the loop around, at most: each is a copy."""


def columns(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with columns outermost in such nests, in place or not.

    Args:
        state: a structure.
        before: the steps that made it.
    """
    steps = before
    for piece in list(_rows(state)):
        found = _turned(state, piece)
        if found is not None:
            state, steps = found[0], (*steps, *found[1])
    return state, steps


def single(nests: tuple[Nest, ...]) -> tuple[Nest, ...]:
    """The nests with one copy of their outermost loops: of columns, each of which is a chain of all items."""
    return tuple(
        replace(nest, orders=tuple(_single(order) for order in nest.orders)) for nest in nests
    )


def _single(order: Order) -> Order:
    own = order.loops[:1] if len(order.loops) > 1 else ()
    return replace(order, loops=(*(replace(x, most=1) for x in own), *order.loops[len(own) :]))


def _rows(state: ScheduledScop) -> Iterator[Piece]:
    """A statement of each nest of two loops that assigns elements a varying number of columns ahead of what it reads."""
    for group in groups(state):
        first = group.pieces[0]
        if group.end != 2 or any(len(p.dims) != 2 for p in group.pieces):
            continue
        around = whole_range([(first, 0)])
        if around is None or around.extent > ROWS:
            continue
        found = (p for p in group.pieces if meets_itself(group.pieces, _target(p)))
        yield from list(found)[:1]


def _target(piece: Piece) -> str:
    return piece.statement.stmt.target.array


def _turned(state: ScheduledScop, piece: Piece) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The program with the inner loop around a statement outermost, if that is legal, maybe with versions."""
    outer, inner = (f"{piece.name}.{name}" for name in piece.names)
    swap = Reorder((inner, outer))
    moved = tried(state, swap)
    if moved is not None:
        return moved, (swap,)
    steps: tuple[Step, ...] = (Versions(_target(piece), outer),)
    made = tried(state, *steps)
    if made is None:
        return None
    known = {p.name for p in state.pieces}
    new = [p for p in made.pieces if p.name not in known]
    together = tuple(
        Fuse((piece.name, p.name), 2)
        for p in new
        if _target(p) != _target(piece) and p.place[0] == made.of_statement(piece.name)[0].place[0]
    )
    for backwards in ((), (Reverse(inner),)):
        own = (*together, *backwards, swap)
        moved = tried(made, *own)
        if moved is None:
            continue
        steps = (*steps, *own)
        last = next((p for p in new if _target(p) == _target(piece)), None)
        return _handed_over(moved, steps, piece.name, last)
    return None


def _handed_over(
    state: ScheduledScop, steps: tuple[Step, ...], name: str, last: Piece | None
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """With what copies the last version into an argument in the same loop over columns, where that is legal."""
    place = state.of_statement(name)[0].place[0]
    mine = whole_range([(p, 0) for p in state.pieces if p.place[0] == place and p.dims])
    its = None if last is None else whole_range([(last, 0)])
    if last is None or mine is None or its is None:
        return state, steps
    delay = Shift(last.name, f"{last.name}.{last.names[0]}", mine.first - its.first)
    own = (*((delay,) if delay.amount else ()), Fuse((name, last.name), 1))
    moved = tried(state, *own)
    return (state, steps) if moved is None else (moved, (*steps, *own))
