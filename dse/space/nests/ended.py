"""Iterations that are expected of loops which may end early, and where a design counts on it."""

from __future__ import annotations

from math import ceil

from dse.space.nests.nest import NestLoop

_IDLE = 12
"""Iterations that do nothing, for which it is worth it to end a loop early: a pipeline takes about as long to fill and drain."""


def ends_early(loop: NestLoop, copies: int) -> bool:
    """Whether a loop with so many copies of its body is to end early: it is no part of a flattened nest then, but fills and
    drains its pipeline each time.
    """
    if not loop.trips or loop.extent is None or copies == loop.extent:
        return False
    return is_worth_it(loop.extent, loop.trips, copies)


def is_worth_it(most: int, trips: int, copies: int) -> bool:
    """Whether so many iterations at most, of which ``trips`` are expected, leave enough that do nothing, with so many copies."""
    return ceil(most / copies) - ceil(trips / copies) >= _IDLE


def blocks_of(loop: NestLoop, copies: int, whole: int) -> int:
    """Iterations that are expected of a loop unrolled, which has so many as a ``whole``."""
    return max(1, min(whole, ceil(loop.trips / copies))) if ends_early(loop, copies) else whole
