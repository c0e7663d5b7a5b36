"""What scheduling gives: cycles of operations, and regions of scheduled blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from backends.rtl.graph import Block, Counter, Graph, Guarded, Loop, Pipeline, Region, Straight
from backends.rtl.schedule.timing import Timed
from dsl.expressions.affine import Constraint


@dataclass(frozen=True, slots=True)
class BlockSchedule:
    """A block whose operation ``i`` starts in cycle ``start[i]`` of an iteration.

    Its result is there from cycle ``ready[i]`` on. A store writes at the end of its cycle. What
    needs no cycle (`timing.ANYTIME`) has 0 in both. ``depth`` cycles after an iteration started
    nothing of it is under way; ``ii`` is 0 where iterations do not overlap. What is ``shared`` goes
    to an operator that others use in other cycles; its timing has the registers in front of that.
    ``back`` are loads that take the value of a store of the iteration before (see `carry`).
    """

    block: Block
    start: tuple[int, ...]
    timing: tuple[Timed, ...]
    depth: int
    ii: int = 0
    why: str = ""
    shared: frozenset[int] = frozenset()
    back: Mapping[int, int] = field(default_factory=dict)

    @property
    def ready(self) -> tuple[int, ...]:
        """The first cycle of each result."""
        return tuple(s + t.latency for s, t in zip(self.start, self.timing, strict=True))


@dataclass(frozen=True, slots=True)
class ScheduledStraight:
    """Run once."""

    schedule: BlockSchedule


@dataclass(frozen=True, slots=True)
class ScheduledPipeline:
    """Iterations started every ``schedule.ii`` cycles; ``asked`` is what the user wanted."""

    counters: tuple[Counter, ...]
    schedule: BlockSchedule
    asked: int


@dataclass(frozen=True, slots=True)
class ScheduledLoop:
    """Iterations one after the other."""

    counter: Counter
    body: tuple[ScheduledRegion, ...]


@dataclass(frozen=True, slots=True)
class ScheduledGuarded:
    """Run where all constraints hold."""

    constraints: tuple[Constraint, ...]
    body: tuple[ScheduledRegion, ...]


ScheduledRegion = ScheduledStraight | ScheduledPipeline | ScheduledLoop | ScheduledGuarded


@dataclass(frozen=True, slots=True)
class ScheduledGraph:
    """A kernel with all its cycles."""

    graph: Graph
    body: tuple[ScheduledRegion, ...]


def original(region: ScheduledRegion) -> Region:
    """The region without its schedule."""
    match region:
        case ScheduledStraight(schedule):
            return Straight(schedule.block)
        case ScheduledPipeline(counters, schedule, asked):
            return Pipeline(counters, schedule.block, asked)
        case ScheduledLoop(counter, body):
            return Loop(counter, tuple(original(r) for r in body))
        case ScheduledGuarded(constraints, body):
            return Guarded(constraints, tuple(original(r) for r in body))
        case _:
            assert_never(region)
