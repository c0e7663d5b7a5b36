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
from dsl.schedules.recurrence_steps import Carry, Versions
from dsl.schedules.steps import Fuse, Reorder, Reverse, Shift, Step
from polyhedral.schedule import tried
from polyhedral.scop.execution_order import shared_levels
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
    """A statement of each nest whose two innermost loops assign elements a varying number of columns ahead of what is read."""
    for group in groups(state):
        first = group.pieces[0]
        if group.end < 2 or any(len(p.dims) != group.end for p in group.pieces):
            continue
        around = whole_range([(first, group.end - 2)])
        if around is None or around.extent > ROWS:
            continue
        found = (p for p in group.pieces if meets_itself(group.pieces, _target(p)))
        yield from list(found)[:1]


def _target(piece: Piece) -> str:
    return piece.statement.stmt.target.array


def _lengths_vary(state: ScheduledScop, step: Carry) -> bool:
    """Whether a loop hands an array on in shift registers of several lengths: what is assigned now is an array of its own then."""
    moved = tried(state, step)
    before = {a.name for a in state.scop.program.arrays}
    return moved is not None and len({a.name for a in moved.scop.program.arrays} - before) > 1


def _turned(state: ScheduledScop, piece: Piece) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The program with the loop over columns around a statement outside of that over rows, if that is legal; in place, with
    versions.
    """
    outer, inner = (f"{piece.name}.{name}" for name in piece.names[-2:])
    swap = Reorder((inner, outer))
    moved = tried(state, swap)
    if moved is not None:
        return (moved, (swap,)) if _lengths_vary(moved, Carry(_target(piece), inner)) else None
    versions = Versions(_target(piece), outer)
    made = tried(state, versions)
    if made is None:
        return None
    known = {p.name for p in state.pieces}
    new = [p for p in made.pieces if p.name not in known]
    mine = made.of_statement(piece.name)[0]
    kept = [p.name for p in new if shared_levels(p, mine) == len(mine.dims) - 1]
    one_nest = tuple(Fuse((piece.name, name), len(mine.dims)) for name in kept)
    for backwards in ((), (Reverse(inner),)):
        own = (*one_nest, *backwards, swap)
        moved = tried(made, *own)
        if moved is None:
            continue
        steps: tuple[Step, ...] = (versions, *own)
        for other in (p for p in reversed(new) if p.name not in kept):
            behind = _target(other) == _target(piece)
            moved, steps = _together(moved, steps, piece.name, other.name, behind)
        return moved, steps
    return None


def _together(
    state: ScheduledScop, steps: tuple[Step, ...], name: str, other: str, behind: bool
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """With what copies an argument into its first version, or the last version into it, in the same loop over columns, where
    that is legal.
    """
    place = state.of_statement(name)[0].place[0]
    mine = whole_range([(p, 0) for p in state.pieces if p.place[0] == place and p.dims])
    loop = f"{other}.{state.of_statement(other)[0].names[0]}"
    for turned in ((), (Reverse(loop),)):
        at = tried(state, *turned)
        its = None if at is None else whole_range([(at.of_statement(other)[0], 0)])
        if mine is None or its is None:
            continue
        delay = Shift(other, loop, mine.first - its.first)
        own = (*turned, *((delay,) if delay.amount else ()))
        own = (*own, Fuse((name, other) if behind else (other, name), 1))
        moved = tried(state, *own)
        if moved is not None:
            return moved, (*steps, *own)
    return state, steps
