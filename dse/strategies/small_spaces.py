"""Small spaces, of which all points are candidates as long as that takes few schedules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import prod

from dse.space.space import Point, Space
from dse.strategies.estimates import Estimates
from dse.strategies.ladder import vectors
from dse.strategies.sampled import all_points

POOL = 50_000  # points of a space that are all estimated
_DEEP, _DEEP_POOL = 4, 5_000
"""Of nests of more than so many loops fewer: each loop with or without blocks and copies is a schedule of its own
there, of which one takes 20 ms."""
_SCHEDULES = 1_000
"""Of relatives, and decisions on local arrays, that the points may take: each takes 2 to 10 ms, and a point of known ones
0.03 ms."""
_LOOKS = 250  # points from one look at that to the next


def is_small(space: Space, copies: int) -> bool:
    """Whether there are few points of at most so many copies a nest."""
    pool = _DEEP_POOL if _deepest(space) > _DEEP else POOL
    return _count(space, copies, pool) <= pool


def affordable(space: Space, copies: int, estimates: Estimates) -> Iterator[Point | None]:
    """Every point of at most so many copies a nest; None, and no more, where they turn out to take too many schedules.

    Args:
        space: of the points.
        copies: of a nest, at most.
        estimates: that each point is asked of before the next one.
    """
    before = estimates.schedules
    for number, point in enumerate(all_points(space, copies)):
        if number % _LOOKS == 0 and estimates.schedules - before > _SCHEDULES:
            yield None
            return
        yield point


def _deepest(space: Space) -> int:
    """The most loops that a nest has."""
    nests = (nest for variant in space.variants for nest in variant.nests)
    return max((len(order.band) for nest in nests for order in nest.orders), default=0)


def _count(space: Space, copies: int, most: int) -> int:
    """How many points there are of at most so many copies a nest; may stop above ``most``."""
    total = 0
    for variant in space.variants:
        sizes = [
            sum(1 for order in nest.orders for _ in islice(vectors(order, copies), most + 1))
            for nest in variant.nests
        ]
        total += prod(sizes)
        if total > most:
            break
    return total
