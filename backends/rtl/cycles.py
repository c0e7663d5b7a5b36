"""The exact number of cycles that a scheduled kernel takes, from start to done.

The rules are those by which `backends.rtl.control.regions` makes hardware. A region begins in the
cycle after the last one of the region before. Straight code takes its depth; a pipeline of ``n``
iterations ``(n - 1) * ii + max(depth, ii)``; a loop the sum of its iterations; a decision that
cannot be made in the last cycle of the region before takes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from backends.rtl.graph import Counter
from backends.rtl.schedule.ranges import Ranges, counter_range, decides_late, may_be_empty
from backends.rtl.schedule.result import (
    ScheduledGraph,
    ScheduledGuarded,
    ScheduledLoop,
    ScheduledPipeline,
    ScheduledRegion,
    ScheduledStraight,
)
from dsl.expressions.affine import Constraint

HANDSHAKE = 1
"""Cycles from start to done besides those of the regions."""


def predict(scheduled: ScheduledGraph) -> int:
    """Cycles from the one in which start is first high to the one in which done is."""
    walk = Walk()
    return HANDSHAKE + walk.sequence(scheduled.body, {}, {}, frozenset(), first=False)


@dataclass(slots=True)
class Walk:
    """Sums, remembered by region and the values of the counters that it depends on."""

    known: dict[tuple[object, ...], int] = field(default_factory=dict)
    needs: dict[int, frozenset[str]] = field(default_factory=dict)

    def sequence(
        self,
        body: tuple[ScheduledRegion, ...],
        env: Mapping[str, int],
        ranges: Ranges,
        changing: frozenset[str],
        *,
        first: bool,
    ) -> int:
        total = 0
        for region in body:
            total += self.region(region, env, ranges, changing, first=first)
            changing, first = frozenset(), False
        return total

    def region(
        self,
        region: ScheduledRegion,
        env: Mapping[str, int],
        ranges: Ranges,
        changing: frozenset[str],
        *,
        first: bool,
    ) -> int:
        needed = tuple((n, env[n]) for n in sorted(self.variables(region)) if n in env)
        key = (id(region), needed, changing, first)
        if key not in self.known:
            self.known[key] = self._region(region, env, ranges, changing, first=first)
        return self.known[key]

    def variables(self, region: ScheduledRegion) -> frozenset[str]:
        """Counters on which the cycles of a region depend."""
        if id(region) not in self.needs:
            self.needs[id(region)] = self._variables(region)
        return self.needs[id(region)]

    def _variables(self, region: ScheduledRegion) -> frozenset[str]:
        match region:
            case ScheduledStraight():
                return frozenset()
            case ScheduledPipeline(counters):
                return _of_counters(counters)
            case ScheduledLoop(counter, body):
                inner = frozenset[str]().union(*(self.variables(r) for r in body))
                return _of_counters((counter,)) | (inner - {counter.iv})
            case ScheduledGuarded(constraints, body):
                inner = frozenset[str]().union(*(self.variables(r) for r in body))
                return inner.union(*(c.expr.variables() for c in constraints))
            case _:
                assert_never(region)

    def _region(
        self,
        region: ScheduledRegion,
        env: Mapping[str, int],
        ranges: Ranges,
        changing: frozenset[str],
        *,
        first: bool,
    ) -> int:
        match region:
            case ScheduledStraight(schedule):
                return schedule.depth
            case ScheduledPipeline(counters, schedule):
                asks, _, _ = decision(counters[0], ranges, changing, first=first)
                slots = iterations(counters, env)
                if slots == 0:
                    return asks
                run = (slots - 1) * schedule.ii + max(schedule.depth, schedule.ii)
                return asks + run
            case ScheduledLoop(counter, body):
                return self._loop(counter, body, env, ranges, changing, first=first)
            case ScheduledGuarded(constraints, body):
                asks = int(decides_late(constraints, changing, first=first))
                if not all(c.holds(env) for c in constraints):
                    return asks
                return asks + self.sequence(body, env, ranges, frozenset(), first=False)
            case _:
                assert_never(region)

    def _loop(
        self,
        counter: Counter,
        body: tuple[ScheduledRegion, ...],
        env: Mapping[str, int],
        ranges: Ranges,
        changing: frozenset[str],
        *,
        first: bool,
    ) -> int:
        asks, changing, first = decision(counter, ranges, changing, first=first)
        inner = {**ranges, counter.iv: counter_range(counter, ranges)}
        moving = changing | {counter.iv}
        count = trips(counter, env)
        if counter.iv not in frozenset[str]().union(*(self.variables(r) for r in body)):
            once = self.sequence(body, env, inner, moving, first=True) if count else 0
            return asks + count * once
        return asks + sum(
            self.sequence(body, {**env, counter.iv: n}, inner, moving, first=True)
            for n in range(count)
        )


def _of_counters(counters: tuple[Counter, ...]) -> frozenset[str]:
    """What bounds depend on, of what is around."""
    used = frozenset[str]().union(*(u.variables() for c in counters for u in c.uppers))
    return used - {c.iv for c in counters}


def decision(
    counter: Counter, ranges: Ranges, changing: frozenset[str], *, first: bool
) -> tuple[int, frozenset[str], bool]:
    """Cycles to see whether there is an iteration, and what changes or comes first after that."""
    if not may_be_empty(counter, ranges):
        return 0, changing, first
    constraints = [Constraint(u - 1) for u in counter.uppers]
    return int(decides_late(constraints, changing, first=first)), frozenset(), False


def trips(counter: Counter, env: Mapping[str, int]) -> int:
    """Iterations of a normal counter."""
    return max(0, min(u.evaluate(env) for u in counter.uppers))


def iterations(counters: tuple[Counter, ...], env: Mapping[str, int]) -> int:
    """Iterations of nested normal counters, as hardware counts them.

    An inner counter takes one wherever it begins: where it has none, conditions of what is stored
    make that one do nothing (see `backends.rtl.schedule.normal`).
    """
    return _iterations(counters, env, least=0)


def _iterations(counters: tuple[Counter, ...], env: Mapping[str, int], least: int) -> int:
    if not counters:
        return 1
    outer, rest = counters[0], counters[1:]
    count = max(least, trips(outer, env))
    if not any(outer.iv in u.variables() for c in rest for u in c.uppers):
        return count * _iterations(rest, {**env, outer.iv: 0}, least=1) if count else 0
    return sum(_iterations(rest, {**env, outer.iv: n}, least=1) for n in range(count))
