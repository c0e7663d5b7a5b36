"""Every access of a scheduled kernel to some arrays: when in its own cycles, and to which word."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from backends.rtl.cycles import HANDSHAKE, Walk, decision, trips
from backends.rtl.graph import Counter, Op
from backends.rtl.schedule.ranges import Ranges, counter_range, decides_late
from backends.rtl.schedule.result import (
    BlockSchedule,
    ScheduledGraph,
    ScheduledGuarded,
    ScheduledLoop,
    ScheduledPipeline,
    ScheduledRegion,
)

Access = tuple[int, Op, int]
"""The cycle, the load or store, and the word."""
Env = Mapping[str, int]


def places(
    scheduled: ScheduledGraph, arrays: Collection[str]
) -> Iterator[tuple[int, int, list[Access]]]:
    """Regions as they begin, in the order of time: the cycle, the region's ``id``, and what it accesses if it holds no other.

    Args:
        scheduled: the kernel.
        arrays: whose accesses are wanted, those whose guards hold.
    """
    yield from _Places(frozenset(arrays)).sequence(
        scheduled.body, _At({}, {}, frozenset(), False), HANDSHAKE
    )


@dataclass(frozen=True, slots=True)
class _At:
    """Where a region stands: counters around and their ranges, which of them just changed, and whether it comes first."""

    env: Env
    ranges: Ranges
    changing: frozenset[str]
    first: bool


@dataclass(slots=True)
class _Places:
    arrays: frozenset[str]
    walk: Walk = field(default_factory=Walk)

    def sequence(
        self, body: tuple[ScheduledRegion, ...], where: _At, at: int
    ) -> Iterator[tuple[int, int, list[Access]]]:
        for region in body:
            yield from self._region(region, where, at)
            at += self.walk.region(
                region, where.env, where.ranges, where.changing, first=where.first
            )
            where = _At(where.env, where.ranges, frozenset(), False)

    def _region(
        self, region: ScheduledRegion, where: _At, at: int
    ) -> Iterator[tuple[int, int, list[Access]]]:
        match region:
            case ScheduledPipeline(counters, schedule):
                asks, _, _ = decision(counters[0], where.ranges, where.changing, first=where.first)
                slots = list(_slots(counters, where.env))
                found = [
                    access
                    for n, env in enumerate(slots)
                    for access in self._block(schedule, env, at + asks + n * schedule.ii)
                ]
                if slots:
                    yield at + asks, id(region), sorted(found, key=lambda a: a[0])
            case ScheduledLoop(counter, body):
                yield at, id(region), []
                yield from self._loop(counter, body, where, at)
            case ScheduledGuarded(constraints, body):
                if all(c.holds(where.env) for c in constraints):
                    yield at, id(region), []
                    at += int(decides_late(constraints, where.changing, first=where.first))
                    inner = _At(where.env, where.ranges, frozenset(), False)
                    yield from self.sequence(body, inner, at)
            case _:
                found = self._block(region.schedule, where.env, at)
                yield at, id(region), sorted(found, key=lambda a: a[0])

    def _loop(
        self, counter: Counter, body: tuple[ScheduledRegion, ...], where: _At, at: int
    ) -> Iterator[tuple[int, int, list[Access]]]:
        asks, changing, _ = decision(counter, where.ranges, where.changing, first=where.first)
        ranges = {**where.ranges, counter.iv: counter_range(counter, where.ranges)}
        moving = changing | {counter.iv}
        at += asks
        for n in range(trips(counter, where.env)):
            inner = _At({**where.env, counter.iv: n}, ranges, moving, True)
            yield from self.sequence(body, inner, at)
            at += self.walk.sequence(body, inner.env, ranges, moving, first=True)

    def _block(self, schedule: BlockSchedule, env: Env, at: int) -> list[Access]:
        return [
            (at + schedule.start[op.id], op, op.place.offset.evaluate(env))
            for op in schedule.block.ops
            if op.place is not None
            and op.place.array in self.arrays
            and all(c.holds(env) for c in op.guard)
        ]


def _slots(counters: tuple[Counter, ...], env: Env) -> Iterator[Env]:
    """The counters of each iteration of a pipeline; an inner one takes one wherever it begins."""

    def inner(rest: tuple[Counter, ...], env: Env, least: int) -> Iterator[Env]:
        if not rest:
            yield env
            return
        for n in range(max(least, trips(rest[0], env))):
            yield from inner(rest[1:], {**env, rest[0].iv: n}, 1)

    return inner(counters, env, 0)
