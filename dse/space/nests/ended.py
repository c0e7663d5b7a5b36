"""Iterations that are expected of loops which may end early, and where a design counts on it."""

from __future__ import annotations

from math import ceil

from dse.space.nests.nest import NestLoop

IDLE = 12
"""Iterations that do nothing, for which it is worth it to end a loop early: a pipeline takes about as long to fill and drain."""


def ends_early(loop: NestLoop, copies: int) -> bool:
    """Whether a loop with so many copies of its body is to end early: it is no part of a flattened nest then, but fills and
    drains its pipeline each time.
    """
    if not loop.trips or loop.extent is None or copies == loop.extent:
        return False
    return ceil(loop.extent / copies) - ceil(loop.trips / copies) >= IDLE


def blocks_of(loop: NestLoop, copies: int, whole: int) -> int:
    """Iterations that are expected of a loop unrolled, which has so many as a ``whole``."""
    return max(1, min(whole, ceil(loop.trips / copies))) if ends_early(loop, copies) else whole
