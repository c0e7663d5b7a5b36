"""Recurrences whose distances vary: an inner loop that runs so far behind itself that it may be outermost.

A dynamic program in one row reads, of the row, what its loop around has not changed yet, or what it has::

    for coin in range(1, 9):
      for c in range(coin, 256):
        ways[c] += ways[c - coin]

Neither loop is free, nor may they be exchanged. Delayed by 7 for each coin, all coins are at work at the same
time, each on an element that is behind the one before::

    for t in range(263):
      for coin in range(1, 9):
        if coin <= t - 7 * coin < 256: ways[t - 7 * coin] += ways[t - 8 * coin]
"""

from __future__ import annotations

from collections.abc import Callable

from dse.space.memory.registers import meets_itself
from dse.space.nests.groups import groups
from dsl.schedules.steps import Reorder, Skew, Step
from polyhedral.schedule import tried
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import ScheduledScop

_COPIES = 16
"""Iterations of the loop around, at most: where each is a copy, subscripts move with one loop, as banks want it."""
_IDLE = 4
"""Iterations that delays add, at most, in lengths of the loop."""


def widely_skewed(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with the inner of two loops of such a nest outermost, delayed as little as is legal.

    Args:
        state: a structure, its statements distributed as far as is legal.
        before: the steps that made it.
    """
    steps = before
    for group in groups(state):
        leader = group.pieces[0]
        if len(leader.dims) != 2 or group.end != 2 or not meets_itself(group.pieces):
            continue
        outer, inner = (f"{leader.name}.{name}" for name in leader.names)
        around, inside = (whole_range([(leader, k)]) for k in range(2))
        if around is None or inside is None or around.extent > _COPIES:
            continue
        if tried(state, Reorder((inner, outer))) is not None:
            continue

        def moved(
            factor: int, outer: str = outer, inner: str = inner, state: ScheduledScop = state
        ) -> ScheduledScop | None:
            return tried(state, Skew(outer, inner, factor), Reorder((inner, outer)))

        most = _IDLE * inside.extent // max(1, around.extent - 1)
        factor = _least(lambda n: moved(n) is not None, most)
        if factor is not None and (found := moved(factor)) is not None:
            state = found
            steps = (*steps, Skew(outer, inner, factor), Reorder((inner, outer)))
    return state, steps


def _least(legal: Callable[[int], bool], most: int) -> int | None:
    """The least number of 1 to ``most`` that is legal, if those above a legal one are."""
    high = 1
    while not legal(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if legal(middle) else (middle, high)
    return high
