"""The open backend's own answer: its scheduler's cycles, exact, and what its RTL will take.

For the tool ``open-ecp5-10ns`` nothing is emulated: the design is scheduled and made by
`backends.rtl`, whose simulation takes exactly these cycles. LUT and the clock period are read off the
RTL's bits (`backends.rtl.area`), so they are an estimate; routing makes the difference.
"""

from __future__ import annotations

from collections.abc import Iterator

from backends.devices import Device
from backends.rtl.area.cells import cells
from backends.rtl.area.costs import LUTS
from backends.rtl.area.estimate import area, period
from backends.rtl.cycles import HANDSHAKE, iterations, predict
from backends.rtl.design import RtlDesign
from backends.rtl.graph import Counter
from backends.rtl.schedule.result import (
    BlockSchedule,
    ScheduledGraph,
    ScheduledGuarded,
    ScheduledLoop,
    ScheduledPipeline,
    ScheduledRegion,
    ScheduledStraight,
)
from backends.rtl.wrap.host import host_wrapper
from qor_gnn.area.terms import Sums
from qor_gnn.design.region import Trips
from qor_gnn.result.qor_estimate import Cycles, LoopEstimate, QorEstimate
from qor_gnn.tools.personality import Personality


def open_estimate(design: RtlDesign, tool: Personality, device: Device) -> QorEstimate:
    """The estimate of a design as the open backend makes it.

    Args:
        design: from `backends.rtl.synth.rtl_of`.
        tool: the personality of the backend.
        device: what it is for.
    """
    cycles = design.cycles
    module = host_wrapper(design).module
    used, sums = area(module), cells(module)
    return QorEstimate(
        kernel=design.name,
        latency=Cycles(cycles, cycles, cycles),
        loops=tuple(_rows(design, design.scheduled.body, ())),
        units=(),
        dsp=used.dsp,
        provenance="model",
        tool=tool.name,
        device=device.name,
        clock_ns=tool.clock_ns,
        lut=used.lut,
        ff=used.ff,
        bram18=used.bram,
        uram=0,
        period_ns=period(module),
        sums=Sums(
            {kind: float(sums[kind]) for kind in LUTS}, {"flops": float(sums["flops"])}, 0.0, 0.0
        ),
    )


def _rows(
    design: RtlDesign, body: tuple[ScheduledRegion, ...], around: tuple[Counter, ...]
) -> Iterator[LoopEstimate]:
    """Loops in order, parents first; straight code is in the latency of what is around it."""
    for region in body:
        match region:
            case ScheduledPipeline(counters, schedule, asked):
                yield _row(design, region, around, counters, schedule, asked)
            case ScheduledLoop(counter, inner):
                yield _row(design, region, around, (counter,), None, None)
                yield from _rows(design, inner, (*around, counter))
            case ScheduledGuarded(_, inner):
                yield from _rows(design, inner, around)
            case ScheduledStraight():
                pass


def _row(
    design: RtlDesign,
    region: ScheduledRegion,
    around: tuple[Counter, ...],
    counters: tuple[Counter, ...],
    schedule: BlockSchedule | None,
    asked: int | None,
) -> LoopEstimate:
    average = _average(around, counters)
    latency = _latency(region, around)
    if not around:  # with what it takes to see whether there is another iteration
        latency = predict(ScheduledGraph(design.graph, (region,))) - HANDSHAKE
    whole = round(average)
    return LoopEstimate(
        function=design.name,
        loops=tuple(c.name or c.iv for c in counters),
        kind="nest" if schedule is None else "pipeline",
        level=len(around),
        copies=1,
        trips=Trips(whole, whole, average),
        unroll=1,
        asked=asked,
        ii=schedule.ii if schedule is not None else latency / average if average else 0.0,
        depth=schedule.depth if schedule is not None else latency / average if average else 0.0,
        latency=Cycles(latency, round(latency), round(latency)),
        limits=(),
        path=(),
        units=(),
        dsp=0,
        statements=_statements(region),
    )


def _average(around: tuple[Counter, ...], counters: tuple[Counter, ...]) -> float:
    """Iterations each time that the counters begin."""
    entries = iterations(around, {})
    return iterations((*around, *counters), {}) / entries if entries else 0.0


def _latency(region: ScheduledRegion, around: tuple[Counter, ...]) -> float:
    """Cycles each time that it is entered, decisions between regions left out."""
    match region:
        case ScheduledPipeline(counters, schedule):
            count = _average(around, counters)
            return (count - 1) * schedule.ii + max(schedule.depth, schedule.ii) if count else 0.0
        case ScheduledLoop(counter, body):
            inner = (*around, counter)
            return _average(around, (counter,)) * sum(_latency(r, inner) for r in body)
        case ScheduledGuarded(_, body):
            return sum(_latency(r, around) for r in body)
        case ScheduledStraight(schedule):
            return schedule.depth


def _statements(region: ScheduledRegion) -> tuple[str, ...]:
    """Names of the statements inside, in order."""
    match region:
        case ScheduledPipeline() | ScheduledStraight():
            ops = region.schedule.block.ops
            return tuple(dict.fromkeys(op.stmt for op in ops if op.stmt))
        case ScheduledLoop(_, body) | ScheduledGuarded(_, body):
            return tuple(dict.fromkeys(name for r in body for name in _statements(r)))
