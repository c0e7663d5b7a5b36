"""Where partial sums help: nests in which nothing but a sum is left to run through.

In a dot product every order of the loops has the sum innermost, so that an iteration waits for the
one before. As many accumulators as that takes cycles do away with the waiting. A few of them have a part
of the iterations each and rotate innermost; an iteration adds neighbouring elements to one of them. Where a
tool adds these one after the other, there are many accumulators too, as many as elements that are added at
once, so that none waits for another: they take turns, and are added up by fewer of them, in stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from dse.space.nests.nest import Nest, NestLoop, Order
from dsl.schedules.steps import PartialSums, Split, Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop

MOST = 1024
"""Accumulators of an element, at most."""
_STAGE = 8
"""Accumulators that are added up one after the other: of more, so many at a time."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many accumulators there are, at the least.

    Attributes:
        levels: enough for so many levels of the tree of terms that an iteration adds.
        count: so many, where the terms make no tree.
        whole: one for each iteration of a loop, where the terms make no tree: all of its copies add at once
            then, each to its own.
    """

    levels: int = 0
    count: int = 0
    whole: bool = False

    def least(self, loop: NestLoop) -> int | None:
        """Along a loop; None where more are no help."""
        if not self.count:
            waits = (c.delay + (self.levels - 1) * c.more for c in loop.carries)
            return max(2, ceil(max(waits, default=0)))
        # The terms of a tree wait for nothing but the tree.
        return None if all(c.tree for c in loop.carries) else self.count


WANTED = (
    Wanted(levels=1),
    Wanted(levels=5),
    Wanted(count=64),
    Wanted(count=128),
    Wanted(count=512),
    Wanted(whole=True),
)


@dataclass(frozen=True, slots=True)
class Accumulators:
    """The steps that spread a sum, and those that cut their loops into the accumulators' parts later."""

    steps: tuple[PartialSums, ...]

    @property
    def cuts(self) -> tuple[Split, ...]:
        """Of each loop: into parts, one an accumulator, or into rounds of one turn each."""
        return tuple(
            Split(step.loop, step.block if step.block > 1 else step.count) for step in self.steps
        )

    @property
    def count(self) -> int:
        """Accumulators of the sum itself."""
        return self.steps[0].count


def partial_sums(
    state: ScheduledScop, nests: Sequence[Nest], wanted: Wanted
) -> tuple[Accumulators, ...]:
    """The partial sums that are worth it, each legal after those before.

    Args:
        state: the program as it is written, its sums in any order.
        nests: of the program distributed.
        wanted: how many.
    """
    found: list[Accumulators] = []
    for nest in nests:
        for step in _steps(nest, state, wanted):
            moved = tried(state, step)
            if moved is None:
                continue
            state, stages = _staged(state, moved, step)
            found.append(Accumulators((step, *stages)))
            break
    return tuple(found)


def _steps(nest: Nest, state: ScheduledScop, wanted: Wanted) -> Iterator[PartialSums]:
    """Along one of its loops, the outermost first, the fewest accumulators that leave nothing to
    wait for and divide its iterations. What is in the nest besides the sum makes its terms.
    """
    sums = [name for name in nest.statements if name in state.reassociated]
    if len(sums) != 1 or any(order.free for order in nest.orders if not order.skewed):
        return
    loops = [loop for loop in nest.orders[0].loops if not loop.inner]
    if wanted.whole:
        # An outer one of several: those inside run through then.
        for loop in loops[:-1]:
            chained = any(not c.tree for c in loop.carries)
            if chained and loop.extent is not None and 1 < loop.extent <= MOST // 2:
                yield PartialSums(sums[0], loop.ref, loop.extent, 1)
        return
    for loop in loops:
        count = _count(loop, wanted)
        if count is not None and loop.extent is not None:
            block = 1 if wanted.count else loop.extent // count
            yield PartialSums(sums[0], loop.ref, count, block)


def _staged(
    before: ScheduledScop, state: ScheduledScop, step: PartialSums
) -> tuple[ScheduledScop, tuple[PartialSums, ...]]:
    """The sum of many accumulators spread over fewer of them, and so on.

    Args:
        before: the program without the accumulators.
        state: with them.
        step: that made them.

    Returns:
        the state after that, and the steps.
    """
    stages: list[PartialSums] = []
    while step.count >= 2 * _STAGE:
        known = {s.name for s in before.scop.statements}
        fresh = (s for s in state.scop.statements if s.name not in known)
        last = next(s for s in fresh if s.name in state.reassociated)
        fewer = range(ceil(step.count / _STAGE), step.count)
        count = next((n for n in fewer if step.count % n == 0), None)
        if count is None:
            break  # a prime number of accumulators makes no stages
        loop = f"{last.name}.{last.loops[-1].var}"
        step = PartialSums(last.name, loop, count)
        moved = tried(state, step)
        if moved is None:
            break
        before, state = state, moved
        stages.append(step)
    return state, tuple(stages)


def whole_parts(nests: tuple[Nest, ...], steps: Sequence[Step]) -> tuple[Nest, ...]:
    """The nests, with factors that divide the number of accumulators: one is like the other."""
    parts = {
        f"{step.loop}_{0 if step.block > 1 else 1}"
        for step in steps
        if isinstance(step, PartialSums)
    }
    return tuple(_with_whole(nest, parts) for nest in nests) if parts else nests


def _with_whole(nest: Nest, parts: set[str]) -> Nest:
    def whole(order: Order) -> Order:
        loops = (replace(x, divides=x.divides or x.ref in parts) for x in order.loops)
        return replace(order, loops=tuple(loops))

    return replace(nest, orders=tuple(map(whole, nest.orders)))


def _count(loop: NestLoop, wanted: Wanted) -> int | None:
    """The fewest accumulators that divide the iterations of a loop."""
    extent, least = loop.extent or 0, wanted.least(loop)
    if least is None:
        return None
    return next((n for n in range(least, min(MOST, extent // 2) + 1) if extent % n == 0), None)
