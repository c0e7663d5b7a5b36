"""Which orders of a nest's loops are worth trying, before it is asked which are legal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from dse.space.nests.nest import NestLoop

MAX_BAND = 5  # loops of a nest whose orders are all tried; of more see `_chosen`
MOST_FREE = 5  # loops that carry nothing, of which any may be innermost there


def orders_of(loops: Sequence[NestLoop]) -> Iterator[tuple[str, ...]]:
    """The loops of a nest by name, in each order that is worth trying."""
    several = [loop for loop in loops if loop.extent != 1]
    return _chosen(loops) if len(several) > MAX_BAND else _every(loops)


def _every(loops: Sequence[NestLoop]) -> Iterator[tuple[str, ...]]:
    """Every order, loops of one iteration where they are: there they may be as well as anywhere."""
    for chosen in permutations(loop.name for loop in loops if loop.extent != 1):
        moved = iter(chosen)
        yield tuple(loop.name if loop.extent == 1 else next(moved) for loop in loops)


def _chosen(loops: Sequence[NestLoop]) -> Iterator[tuple[str, ...]]:
    """Orders of many loops: as written, and with any that carry nothing inside of all others.

    Which of the free loops are innermost decides what runs as one pipeline without waiting for itself;
    the loops that carry, and those left outside, stay as they are written.
    """
    yield tuple(loop.name for loop in loops)
    free = [loop.name for loop in loops if not loop.carries and loop.extent is not None]
    free = free[-MOST_FREE:]
    for count in range(1, len(free) + 1):
        for inside in combinations(free, count):
            outside = [loop.name for loop in loops if loop.name not in inside]
            yield (*outside, *inside)
