"""The machine that runs regions one after the other.

Every region is told in the cycle before it starts (``before``), and says so in its last cycle
(``last``), in which its memories see its last write; so the next starts right after. A region
that may have nothing to do decides at ``before``, or where counters of it change with that very
edge, in a cycle of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from backends.rtl.control.affine import Number, bits_for, holds
from backends.rtl.control.datapath import Datapath, Stages
from backends.rtl.control.memories import Memories
from backends.rtl.control.units import Units
from backends.rtl.graph import Counter
from backends.rtl.ir import Expr, ModuleBuilder, Ref, all_of, any_of, lit, mux
from backends.rtl.schedule.ranges import Ranges, counter_range, decides_late, may_be_empty
from backends.rtl.schedule.result import (
    BlockSchedule,
    ScheduledGuarded,
    ScheduledLoop,
    ScheduledPipeline,
    ScheduledRegion,
    ScheduledStraight,
)
from backends.rtl.schedule.timing import SpecOf
from dsl.expressions.affine import Affine, Constraint


@dataclass(frozen=True, slots=True)
class Scope:
    """What a region has around it.

    Attributes:
        env: The counters.
        ranges: Theirs.
        changing: Those that change with the edge at which the region starts.
        first: It comes first in the body of a loop, so that it must not end in the cycle in
            which it is told to start: the loop would follow itself.
    """

    env: dict[str, Number]
    ranges: Ranges
    changing: frozenset[str] = frozenset()
    first: bool = False

    @property
    def settled(self) -> Scope:
        """Of a region that starts while all counters stand still."""
        return Scope(self.env, self.ranges)


class Machine:
    """Makes the regions of a kernel.

    Args:
        builder: The module.
        memories: Of the kernel.
        scalars: The scalar arguments.
        spec: The operator library.
        watched: Names, each for regions by ``id``; `begins` collects when these are told to start.
    """

    def __init__(
        self,
        builder: ModuleBuilder,
        memories: Memories,
        scalars: dict[str, Expr],
        spec: SpecOf,
        watched: Mapping[str, frozenset[int]] | None = None,
    ) -> None:
        self.builder = builder
        self.memories = memories
        self.scalars = scalars
        self.spec = spec
        self.units = Units(builder, spec)
        self.watched = watched or {}
        self.begins: dict[str, list[Expr]] = {name: [] for name in self.watched}
        self._count = 0

    def sequence(self, body: tuple[ScheduledRegion, ...], before: Expr, scope: Scope) -> Expr:
        """Regions one after the other; the bit of the last cycle of the last."""
        for region in body:
            before = self._region(region, before, scope)
            scope = scope.settled
        return before

    def _region(self, region: ScheduledRegion, before: Expr, scope: Scope) -> Expr:
        for name, regions in self.watched.items():
            if id(region) in regions:
                self.begins[name].append(before)
        match region:
            case ScheduledStraight(schedule):
                return self._straight(schedule, before, scope)
            case ScheduledPipeline():
                return self._pipeline(region, before, scope)
            case ScheduledLoop():
                return self._loop(region, before, scope)
            case ScheduledGuarded():
                return self._guarded(region, before, scope)
            case _:
                assert_never(region)

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"

    # -- blocks --------------------------------------------------------------------------------

    def _straight(self, schedule: BlockSchedule, before: Expr, scope: Scope) -> Expr:
        name = self._name("b")
        first = self.builder.reg(f"{name}_s0", 1, next=before, reset=0)
        stages = Stages(self.builder, name, first)
        self._datapath(schedule, stages, scope, frozenset(), name)
        return stages.at(schedule.depth - 1)

    def _datapath(
        self,
        schedule: BlockSchedule,
        stages: Stages,
        scope: Scope,
        moving: frozenset[str],
        name: str,
    ) -> None:
        Datapath(
            self.builder,
            self.memories,
            self.units,
            self.scalars,
            schedule,
            stages,
            scope.env,
            moving,
            self.spec,
            name,
        ).emit()

    def _pipeline(self, region: ScheduledPipeline, before: Expr, scope: Scope) -> Expr:
        b, name, schedule = self.builder, self._name("p"), region.schedule
        before, skipped, scope = self._decide(
            _not_empty(region.counters[0])
            if may_be_empty(region.counters[0], scope.ranges)
            else (),
            before,
            scope,
            name,
        )
        first = b.reg(f"{name}_s0", 1, reset=0)
        stages = Stages(b, name, first)
        step = stages.at(schedule.ii - 1)
        scope, over = self._counters(region.counters, step, scope)
        b.drive(first, before | (step & ~over))
        moving = frozenset(c.iv for c in region.counters)
        self._datapath(schedule, stages, scope, moving, name)
        end = Stages(b, f"{name}_end", step & over)
        return end.at(max(schedule.depth, schedule.ii) - schedule.ii) | skipped

    def _counters(
        self, counters: tuple[Counter, ...], step: Expr, scope: Scope
    ) -> tuple[Scope, Expr]:
        """Counters that go on where ``step`` is set; with the scope inside of them, a bit: all of
        them have their last value. After it they are all zero again.
        """
        env, ranges = dict(scope.env), dict(scope.ranges)
        refs: list[Ref] = []
        lasts: list[Expr] = []
        for counter in counters:
            low, high = counter_range(counter, ranges)
            ref = self.builder.reg(counter.name or counter.iv, bits_for(low, high), reset=0)
            env[counter.iv] = Number(ref, low, high)
            ranges[counter.iv] = (low, high)
            refs.append(ref)
            lasts.append(_is_last(counter, env))
        for level, ref in enumerate(refs):
            inner = all_of([step, *lasts[level + 1 :]])
            after = mux(lasts[level], lit(0, ref.width), ref + lit(1, ref.width))
            if counters[level].trips == 1 << ref.width:
                after = ref + lit(1, ref.width)
            self.builder.drive(ref, after, inner)
        return Scope(env, ranges, scope.changing, scope.first), all_of(lasts)

    # -- order ---------------------------------------------------------------------------------

    def _decide(
        self, constraints: tuple[Constraint, ...], before: Expr, scope: Scope, name: str
    ) -> tuple[Expr, Expr, Scope]:
        """Whether a region runs: when it starts, when it is skipped, and what is around it."""
        if not constraints:
            return before, lit(0, 1), scope
        if decides_late(constraints, scope.changing, first=scope.first):
            before = self.builder.reg(f"{name}_if", 1, next=before, reset=0)
        yes = holds(constraints, scope.env)
        return before & yes, before & ~yes, scope.settled

    def _loop(self, region: ScheduledLoop, before: Expr, scope: Scope) -> Expr:
        b, counter, name = self.builder, region.counter, self._name("l")
        before, skipped, scope = self._decide(
            _not_empty(counter) if may_be_empty(counter, scope.ranges) else (),
            before,
            scope,
            name,
        )
        again = b.declare(f"{name}_again")
        ends = b.declare(f"{name}_ends")
        inside, over = self._counters((counter,), ends, scope)
        inside = Scope(inside.env, inside.ranges, scope.changing | {counter.iv}, first=True)
        b.drive(ends, self.sequence(region.body, before | again, inside))
        b.drive(again, ends & ~over)
        return (ends & over) | skipped

    def _guarded(self, region: ScheduledGuarded, before: Expr, scope: Scope) -> Expr:
        before, skipped, scope = self._decide(region.constraints, before, scope, self._name("g"))
        return self.sequence(region.body, before, scope) | skipped


def _is_last(counter: Counter, env: dict[str, Number]) -> Expr:
    """Whether a counter has its last value."""
    trips = counter.trips
    own = env[counter.iv]
    if trips is not None:
        return own.expr.eq(lit(trips - 1, own.expr.width))
    iv = Affine.of(counter.iv)
    return any_of(holds([Constraint(iv - upper + 1)], env) for upper in counter.uppers)


def _not_empty(counter: Counter) -> tuple[Constraint, ...]:
    """What holds where a counter from zero has an iteration."""
    return tuple(Constraint(upper - 1) for upper in counter.uppers)
