"""Where partial sums help: nests in which nothing but a sum is left to run through.

In a dot product every order of the loops has the sum innermost, so that an iteration waits for the
one before. As many accumulators as that takes cycles do away with the waiting. Each has a part of the
iterations to itself, and they rotate innermost: what is unrolled then lies side by side in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from dse.space.nest import Nest, NestLoop, Order
from dse.space.tried import tried
from dsl.schedules.steps import PartialSums, Split, Step
from polyhedral.scop.scheduled import ScheduledScop

MOST = 128  # accumulators of an element
LEVELS = (1, 5)  # of the tree of terms that an iteration adds, for which there are enough of them


@dataclass(frozen=True, slots=True)
class Accumulators:
    """A step, and the one that cuts its loop into the parts of the accumulators later."""

    step: PartialSums
    cut: Split


def partial_sums(
    state: ScheduledScop, nests: Sequence[Nest], levels: int
) -> tuple[Accumulators, ...]:
    """The partial sums that are worth it, each legal after those before.

    Args:
        state: the program as it is written, its sums in any order.
        nests: of the program distributed.
        levels: of the tree of the terms of an iteration.
    """
    found: list[Accumulators] = []
    for nest in nests:
        for step in _steps(nest, levels):
            moved = tried(state, step)
            if moved is None:
                continue
            state = moved
            found.append(Accumulators(step, Split(step.loop, step.block)))
            break
    return tuple(found)


def _steps(nest: Nest, levels: int) -> Iterator[PartialSums]:
    """Along one of its loops, the outermost first, the fewest accumulators that leave nothing to
    wait for and divide its iterations.
    """
    if len(nest.statements) > 1 or any(order.free for order in nest.orders if not order.skewed):
        return
    for loop in nest.orders[0].loops:
        count = _count(loop, levels)
        if count is not None and loop.extent is not None:
            yield PartialSums(nest.leader, loop.ref, count, loop.extent // count)


def whole_parts(nests: tuple[Nest, ...], steps: Sequence[Step]) -> tuple[Nest, ...]:
    """The nests, with factors that divide the number of accumulators: one is like the other."""
    parts = {f"{step.loop}_0" for step in steps if isinstance(step, PartialSums)}
    return tuple(_with_whole(nest, parts) for nest in nests) if parts else nests


def _with_whole(nest: Nest, parts: set[str]) -> Nest:
    def whole(order: Order) -> Order:
        loops = (replace(x, divides=x.divides or x.ref in parts) for x in order.loops)
        return replace(order, loops=tuple(loops))

    return replace(nest, orders=tuple(map(whole, nest.orders)))


def _count(loop: NestLoop, levels: int) -> int | None:
    extent = loop.extent or 0
    delay = ceil(max((c.delay + (levels - 1) * c.more for c in loop.carries), default=0))
    for count in range(max(2, delay), min(MOST, extent // 2) + 1):
        if extent % count == 0:
            return count
    return None
