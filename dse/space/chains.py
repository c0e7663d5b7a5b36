"""Sums that are unrolled inside a pipeline, in parts: shorter chains.

A pipelined loop with a sum inside it, unrolled, does not wait for the sum; its iterations are as deep as the
chain of the additions, where the tool makes no tree of them. Each of p accumulators adds a p-th of the
terms, and their sum is the result: a chain of n / p + p additions in the place of n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod

from dse.space.nest import NestLoop, Order
from dse.space.orders import Context, present
from dsl.schedules.steps import PartialSums, Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop

_LEAST = 8  # terms of a sum that is worth it


def in_parts(
    state: ScheduledScop, context: Context, most: int
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with the sums in parts that are unrolled inside pipelines, and the steps.

    Args:
        state: the program, its sums in any order.
        context: what nests are judged with.
        most: statements that an iteration of a pipelined loop may run; see `dse.space.orders.nests`.
    """
    steps: list[Step] = []
    around = {piece.name: piece.names for piece in state.pieces}
    for group, order in list(present(state, context, most)):
        done: set[str] = set()
        for step in _steps(group.names, order, around):
            if step.stmt in done:
                continue
            moved = tried(state, step)
            if moved is not None:
                state = moved
                steps.append(step)
                done.add(step.stmt)
    return state, tuple(steps)


def _steps(
    names: Sequence[str], order: Order, around: Mapping[str, Sequence[str]]
) -> Iterator[PartialSums]:
    """For each statement with a sum that is unrolled, the outermost of its loops first; then for those that
    wait for themselves from one iteration of the pipeline to the next.
    """
    chains = {loop.name: loop for loop in order.loops if loop.inner and _is_chain(loop)}
    for name in names:
        own = [chains[loop] for loop in around.get(name, ()) if loop in chains]
        terms = prod(loop.extent or 1 for loop in own)
        for loop in own:
            extent = loop.extent or 1
            count = _count(extent, terms // extent)
            if terms >= _LEAST and count > 1:
                yield PartialSums(name, f"{name}.{loop.name}", count)
    for loop in order.band[-1:]:
        chained = (c.delay for c in loop.carries if c.distance == 1 and not c.tree)
        waits = ceil(max(chained, default=0))
        if loop.extent is not None and 1 < waits <= loop.extent // 2:
            for name in names:
                yield PartialSums(name, f"{name}.{loop.name}", waits)


def _is_chain(loop: NestLoop) -> bool:
    return any(not carry.tree and carry.more for carry in loop.carries)


def _count(extent: int, terms: int) -> int:
    """The accumulators along a loop, of whose iterations each has ``terms``, that leave the shortest chains."""
    return min(range(1, extent + 1), key=lambda n: (ceil(extent / n) * terms + n, extent % n, n))
