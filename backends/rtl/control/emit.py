"""The module of a scheduled kernel."""

from __future__ import annotations

from collections.abc import Mapping

from backends.rtl.control.memories import Memories
from backends.rtl.control.regions import Machine, Scope
from backends.rtl.cycles import predict
from backends.rtl.design import RegionReport, RtlDesign, ScalarPort
from backends.rtl.graph import Scalar
from backends.rtl.ir import Expr, ModuleBuilder, any_of, lit, mux
from backends.rtl.schedule.result import (
    ScheduledGraph,
    ScheduledGuarded,
    ScheduledLoop,
    ScheduledPipeline,
    ScheduledRegion,
    ScheduledStraight,
)
from backends.rtl.schedule.timing import SpecOf


def emit(
    scheduled: ScheduledGraph,
    spec: SpecOf,
    read_latency: int,
    watched: Mapping[str, frozenset[int]] | None = None,
) -> RtlDesign:
    """Make the module of a kernel.

    Args:
        scheduled: The kernel with all its cycles.
        spec: The operator library, as scheduling had it.
        read_latency: Of all RAM, as scheduling had it.
        watched: Names, each for regions by ``id`` of which the module says when they begin (`RtlDesign.begins`).
    """
    graph = scheduled.graph
    b = ModuleBuilder(graph.name)
    start = b.input("start")
    done = b.reg("finished", 1, reset=0)
    done_port = b.output("done", done)
    ports = tuple(_scalar(b, scalar) for scalar in graph.scalars)
    busy = b.reg("busy", 1, reset=0)
    begin = start & ~busy
    b.drive(busy, mux(begin, lit(1, 1), busy & ~done))
    memories = Memories(b, graph, read_latency)
    machine = Machine(b, memories, {p.name: e for p, e in ports}, spec, watched)
    b.drive(done, machine.sequence(scheduled.body, begin, Scope({}, {})))
    machine.units.close()
    banks = memories.close()
    begins = [(n, b.output(f"{n}_begins", any_of(bits))) for n, bits in machine.begins.items()]
    return RtlDesign(
        name=graph.name,
        top=b.build(),
        graph=graph,
        scheduled=scheduled,
        banks=banks,
        scalars=tuple(p for p, _ in ports),
        cycles=predict(scheduled),
        read_latency=read_latency,
        regions=tuple(_reports(scheduled.body, ())),
        start=start.name,
        done=done_port,
        begins=tuple(begins),
    )


def _scalar(builder: ModuleBuilder, scalar: Scalar) -> tuple[ScalarPort, Expr]:
    ref = builder.input(scalar.name, scalar.width)
    return ScalarPort(scalar.name, ref.name, scalar.width), ref


def _reports(body: tuple[ScheduledRegion, ...], loops: tuple[str, ...]) -> list[RegionReport]:
    result: list[RegionReport] = []
    for region in body:
        match region:
            case ScheduledStraight(schedule):
                size = len(schedule.block.ops)
                result.append(RegionReport(loops, "straight", schedule.depth, 0, 0, "", size))
            case ScheduledPipeline(counters, schedule, asked):
                names = (*loops, *(c.name or c.iv for c in counters))
                size = len(schedule.block.ops)
                result.append(
                    RegionReport(
                        names, "pipeline", schedule.depth, schedule.ii, asked, schedule.why, size
                    )
                )
            case ScheduledLoop(counter, inner):
                result += _reports(inner, (*loops, counter.name or counter.iv))
            case ScheduledGuarded(_, inner):
                result += _reports(inner, loops)
    return result
