"""The addresses that a kernel reads of an array, made by a small machine that runs ahead of it.

Addresses and conditions are affine in the counters, so that they do not depend on data: the loops of a
kernel with nothing in them but the loads of one array give the same addresses in the same order. They are not
slower than the kernel, and loops without any are left out, so that the machine is early wherever the kernel
computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from backends.rtl.graph import Block, DepKind, Graph, Kind
from backends.rtl.schedule.result import (
    BlockSchedule,
    ScheduledGraph,
    ScheduledPipeline,
    ScheduledRegion,
    ScheduledStraight,
)


class Order(Enum):
    """When a word of an array may be read from memory.

    AHEAD: at any time, as the kernel writes none of it. IN_TURN: once the kernel begins the region that
    reads it and all that was written before is in memory. ON_DEMAND: when the kernel asks for it, as what it
    reads may have been written in the same block.
    """

    AHEAD = "ahead"
    IN_TURN = "in turn"
    ON_DEMAND = "on demand"


def order_of(scheduled: ScheduledGraph, array: str) -> Order:
    """How the reads of an array keep behind the writes that they must see."""
    blocks = list(_blocks(scheduled.body))
    if not any(Kind.STORE in _kinds(block, array) for block in blocks):
        return Order.AHEAD
    if any(_sees_own(block, array) for block in blocks):
        return Order.ON_DEMAND
    return Order.IN_TURN


@dataclass(frozen=True, slots=True)
class Ahead:
    """The loads of one array, and the loops around them.

    Attributes:
        scheduled: of the machine.
        kernel: regions of the kernel, by ``id``, before which all writes are to be in memory.
        own: those of the machine that go with them.
    """

    scheduled: ScheduledGraph
    kernel: frozenset[int]
    own: frozenset[int]


def ahead_of(scheduled: ScheduledGraph, array: str) -> Ahead:
    """The loads of one array, in the order of the kernel.

    The largest regions that read the array and do not write it are those before which writes are waited for, and
    blocks that do both.
    """
    graph = scheduled.graph
    only = Graph(f"{graph.name}_{array}_ahead", (graph.array(array),), ())
    maker = _Loads(array)
    body = maker.regions(scheduled.body, marked=False)
    return Ahead(ScheduledGraph(only, body), frozenset(maker.kernel), frozenset(maker.own))


def _blocks(body: tuple[ScheduledRegion, ...]) -> Iterator[BlockSchedule]:
    for region in body:
        if isinstance(region, ScheduledStraight | ScheduledPipeline):
            yield region.schedule
        else:
            yield from _blocks(region.body)


def _kinds(schedule: BlockSchedule, array: str) -> set[Kind]:
    """LOAD, STORE: what a block does with an array."""
    ops = schedule.block.ops
    return {op.kind for op in ops if op.place is not None and op.place.array == array}


def _sees_own(schedule: BlockSchedule, array: str) -> bool:
    """A load of the block may see a store of the block, of this iteration or an earlier one."""
    block = schedule.block
    for dep in block.deps:
        place = block.ops[dep.src].place
        if dep.kind is DepKind.FLOW and place is not None and place.array == array:
            return True
    return False


class _Loads:
    """The regions of one array."""

    def __init__(self, array: str) -> None:
        self.array = array
        self.kernel: set[int] = set()
        self.own: set[int] = set()

    def regions(
        self, body: tuple[ScheduledRegion, ...], *, marked: bool
    ) -> tuple[ScheduledRegion, ...]:
        found = []
        for region in body:
            kinds = set().union(*(_kinds(block, self.array) for block in _blocks((region,))))
            leaf = isinstance(region, ScheduledStraight | ScheduledPipeline)
            here = not marked and (leaf or Kind.STORE not in kinds)
            made = self._region(region, marked=marked or here) if Kind.LOAD in kinds else None
            if made is None:
                continue
            if here:
                self.kernel.add(id(region))
                self.own.add(id(made))
            found.append(made)
        return tuple(found)

    def _region(self, region: ScheduledRegion, *, marked: bool) -> ScheduledRegion:
        if isinstance(region, ScheduledStraight | ScheduledPipeline):
            return replace(region, schedule=_loads(region.schedule, self.array))
        return replace(region, body=self.regions(region.body, marked=marked))


def _loads(schedule: BlockSchedule, array: str) -> BlockSchedule:
    """The loads alone, in their order: one a cycle, unless iterations take turns with them."""
    kept = [
        op
        for op in schedule.block.ops
        if op.kind is Kind.LOAD and op.place is not None and op.place.array == array
    ]
    first = min(schedule.start[op.id] for op in kept)
    starts = tuple(schedule.start[op.id] - first for op in kept)
    ii = schedule.ii
    if not ii or max(starts) < ii:
        ranks = {start: n for n, start in enumerate(sorted(starts))}
        starts, ii = tuple(ranks[start] for start in starts), min(ii, len(kept))
    return BlockSchedule(
        Block(tuple(replace(op, id=n) for n, op in enumerate(kept))),
        starts,
        tuple(schedule.timing[op.id] for op in kept),
        max(starts) + 2,  # the next block begins once the last address of this one is taken
        ii,
    )
