"""Sums that are unrolled inside a pipeline, in parts: shorter chains.

A pipelined loop with a sum inside it, unrolled, does not wait for the sum; its iterations are as deep as the
chain of the additions, where the tool makes no tree of them. A sum alone in its loops is written as a tree: as many additions,
of which the logarithm of the terms are one behind the other. Of others each of p accumulators adds a p-th of the
terms, and their sum is the result: a chain of n / p + p additions in the place of n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod

from dse.space.nests.context import Context
from dse.space.nests.nest import NestLoop, Order
from dse.space.nests.orders import present
from dsl.schedules.recurrence_steps import Tree
from dsl.schedules.steps import PartialSums, Split, Step
from polyhedral.schedule import tried
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import ScheduledScop

_LEAST = 8  # terms of a sum that is worth parts
_FORK = 4  # terms of which a tree is less deep than a chain by more than the operator that ends it
_LONGER = 1.25  # times the shortest chain


def in_parts(
    state: ScheduledScop, context: Context, most: int
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with the sums in parts that are unrolled inside pipelines, and the steps.

    Args:
        state: the program, its sums in any order.
        context: what nests are judged with.
        most: statements that an iteration of a pipelined loop may run; see `dse.space.nests.orders.nests`.
    """
    trees: list[Tree] = []
    steps: list[PartialSums] = []
    done: set[str] = set()
    for step in parts_of(state, context, most):
        moved = None if step.stmt in done else tried(state, step)
        if moved is not None:
            state = moved
            done.add(step.stmt)
            if isinstance(step, Tree):
                trees.append(step)
            else:
                steps.append(step)
    at, longer = cut(state, steps)
    return at, (*trees, *longer)


def cut(
    state: ScheduledScop, parts: Sequence[PartialSums]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The loops of sums in parts cut into rounds, where all rounds are whole: which accumulator is meant is a loop then,
    and no remainder; and all steps.
    """
    steps: list[Step] = list(parts)
    for part in parts:
        extent = _extent(state, part)
        if extent is None or extent % part.count:
            continue
        moved = tried(state, step := Split(part.loop, part.count))
        if moved is not None:
            state = moved
            steps.append(step)
    return state, tuple(steps)


def _extent(state: ScheduledScop, part: PartialSums) -> int | None:
    (piece, *others) = state.of_statement(part.stmt)
    name = part.loop.rpartition(".")[2]
    if others or name not in piece.names:
        return None
    found = constant_interval(piece, piece.names.index(name))
    return None if found is None else found.extent


def parts_of(state: ScheduledScop, context: Context, most: int) -> list[Tree | PartialSums]:
    """The steps that may make trees of the sums, or put them in parts, for each statement the best first; arguments as for `in_parts`."""
    around = {piece.name: piece.names for piece in state.pieces}
    found: list[Tree | PartialSums] = []
    for group, order in present(state, context, most):
        found += _steps(group.names, order, around)
    return found


def _steps(
    names: Sequence[str], order: Order, around: Mapping[str, Sequence[str]]
) -> Iterator[Tree | PartialSums]:
    """For each statement with a sum that is unrolled, the outermost of its loops first; then for those that
    wait for themselves from one iteration of the pipeline to the next.
    """
    chains = {loop.name: loop for loop in order.loops if loop.inner and _is_chain(loop)}
    for name in names:
        own = [chains[loop] for loop in around.get(name, ()) if loop in chains]
        terms = prod(loop.extent or 1 for loop in own)
        if terms >= _FORK:
            yield from (Tree(name, f"{name}.{loop.name}") for loop in own)
        for loop in own:
            extent = loop.extent or 1
            count = shortest(extent, terms // extent)
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


def shortest(extent: int, terms: int = 1) -> int:
    """The accumulators along a loop, of whose iterations each has ``terms``, that leave the shortest chains; so many
    that rounds are whole, where chains are hardly longer by it.
    """

    def chain(n: int) -> tuple[int, int]:
        return ceil(extent / n) * terms + n, n

    every = range(1, extent + 1)
    best, whole = (min(some, key=chain) for some in (every, [n for n in every if extent % n == 0]))
    return whole if chain(whole)[0] <= _LONGER * chain(best)[0] else best
