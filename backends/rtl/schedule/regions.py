"""Schedules every block of a kernel."""

from __future__ import annotations

from collections import Counter as Count
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from backends.rtl.graph import Block, Graph, Guarded, Kind, Loop, Pipeline, Region, Straight
from backends.rtl.operators.library import Key
from backends.rtl.schedule.carry import accesses, taken_back
from backends.rtl.schedule.compact import compact
from backends.rtl.schedule.exact import exact
from backends.rtl.schedule.problem import Problem, problem, recurrent, sharing
from backends.rtl.schedule.result import (
    BlockSchedule,
    ScheduledGraph,
    ScheduledGuarded,
    ScheduledLoop,
    ScheduledPipeline,
    ScheduledRegion,
    ScheduledStraight,
)
from backends.rtl.schedule.solve import NoSchedule, Times, port_bound, recurrence_bound, solve
from backends.rtl.schedule.timing import (
    ANYTIME,
    Fabric,
    SpecOf,
    is_wire,
    key_of,
    worth_sharing,
)

STRAIGHT_TURNS = 4
"""Operations of straight code that take turns in one operator, where there are as many."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a schedule is for: the period in ns, delays of memories, the operator library.

    ``effort`` is what `exact.exact` may spend on each interval, or depth, that may be; 0 is none.
    """

    period: float
    fabric: Fabric
    spec: SpecOf
    effort: float = 0.0


def schedule(graph: Graph, target: Target) -> ScheduledGraph:
    """A graph with normal counters (`normal.normalise`), and a cycle for each operation."""
    count = accesses(graph)
    return ScheduledGraph(graph, tuple(_region(graph, r, target, count) for r in graph.body))


def _region(
    graph: Graph, region: Region, target: Target, count: Count[tuple[str, int | None]]
) -> ScheduledRegion:
    match region:
        case Straight(block):
            return ScheduledStraight(straight(graph, block, target))
        case Pipeline(counters, block, ii):
            back = taken_back(graph, counters, block, count)
            return ScheduledPipeline(counters, pipeline(graph, block, ii, target, back), ii)
        case Loop(counter, body):
            return ScheduledLoop(counter, tuple(_region(graph, r, target, count) for r in body))
        case Guarded(constraints, body):
            return ScheduledGuarded(
                constraints, tuple(_region(graph, r, target, count) for r in body)
            )
        case _:
            assert_never(region)


def straight(graph: Graph, block: Block, target: Target) -> BlockSchedule:
    """The schedule of a block that runs once."""
    given = _problem(graph, block, target, carried=False)
    times = solve(given, 0)
    if target.effort:
        better = exact(given, 0, max(times.start, default=0) - 1, target.effort)
        times = times if better is None else better
    times = _shared(given, times, target)
    compact(times)
    return _result(times, "")


def pipeline(
    graph: Graph,
    block: Block,
    asked: int,
    target: Target,
    back: Mapping[int, int] | None = None,
) -> BlockSchedule:
    """The schedule of a block whose iterations overlap, at the least interval from ``asked`` on.

    ``back`` is from `carry.taken_back`.
    """
    given = _problem(graph, block, target, carried=True, back=back)
    by_ports, port = port_bound(given)
    least = max(asked, by_ports)
    ii = recurrence_bound(given, least)
    why = ""
    if by_ports > asked and port is not None:
        ways = {"r": "read", "w": "written"}
        why = f"bank {port[1]} of {port[0]} is {ways[port[2]]} {by_ports} times an iteration"
    if ii > least:
        why = "an iteration needs what the one before computed"
    times, failure = _first(given, ii)
    if failure is not None:
        op = block.ops[failure.args[0]]
        name = f" of {op.stmt}" if op.stmt else ""
        why = f"what an iteration needs of the ones before, around a {op.kind.value}{name}"
    if target.effort:
        times, why = _improved(given, times, recurrence_bound(given, least), why, target)
    if times.ii > 1:
        times = _shared(given, times, target)
    compact(times)
    return _result(times, why, back)


def _first(given: Problem, least: int) -> tuple[Times, NoSchedule | None]:
    """A schedule at the least interval from ``least`` on that has one, and what the last interval
    that has none failed by. Steps double until there is one, and are halved from there.
    """
    failure, short, step = None, least - 1, 1
    found: Times | None = None
    while found is None or found.ii - short > 1:
        at = short + step if found is None else (short + found.ii) // 2
        try:
            found = solve(given, at)
        except NoSchedule as error:
            failure, short, step = error, at, 2 * step
    return found, failure


def _improved(
    given: Problem, times: Times, least: int, why: str, target: Target
) -> tuple[Times, str]:
    """The first of the intervals below that of a schedule that there is a schedule for."""
    for ii in range(least, times.ii):
        deepest = 3 * max(times.start) + 2 * times.ii
        better = exact(given, ii, deepest, target.effort)
        if better is not None:
            return better, why
    return times, why


def _shared(given: Problem, times: Times, target: Target) -> Times:
    """A schedule in which costly operators take turns, where there is one at the interval."""
    loops = recurrent(given)
    turns, least = (times.ii, 2) if times.ii else (STRAIGHT_TURNS, STRAIGHT_TURNS)
    for without in (frozenset[int](), loops):
        groups: dict[Key, list[int]] = defaultdict(list)
        for op in given.block.ops:
            operator = op.kind not in ANYTIME and op.kind not in (Kind.LOAD, Kind.STORE)
            if operator and op.id not in without and not is_wire(given.block, op):
                groups[key_of(given.block, op)].append(op.id)
        ops = {
            op: key
            for key, group in groups.items()
            if len(group) >= least and worth_sharing(target.spec(key))
            for op in group
        }
        if not ops:
            return times
        try:
            return solve(sharing(given, ops, turns, target.fabric), times.ii)
        except NoSchedule:
            continue
    return times


def _problem(
    graph: Graph,
    block: Block,
    target: Target,
    *,
    carried: bool,
    back: Mapping[int, int] | None = None,
) -> Problem:
    return problem(
        graph,
        block,
        period=target.period,
        fabric=target.fabric,
        spec=target.spec,
        carried=carried,
        back=back,
    )


def _result(times: Times, why: str, back: Mapping[int, int] | None = None) -> BlockSchedule:
    given = times.problem
    last = max((times.start[op.id] for op in given.block.ops), default=0)
    return BlockSchedule(
        given.block,
        tuple(times.start),
        given.timing,
        last + 1,
        times.ii,
        why,
        given.shared,
        back or {},
    )
