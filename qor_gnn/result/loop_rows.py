"""The loops of a scheduled design as rows of its estimate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from qor_gnn.area.binding import region_units
from qor_gnn.area.units import own_dsp, units_dsp
from qor_gnn.dataflow.region import RegionTime
from qor_gnn.design.region import Kernel, Loop, Mode, Statement, Trips, loops_in, walk
from qor_gnn.result.qor_estimate import Cycles, LoopEstimate
from qor_gnn.schedule.critical_path import critical_path
from qor_gnn.schedule.reasons import Step
from qor_gnn.schedule.regions import Region


@dataclass(frozen=True, slots=True)
class Run:
    """What a design takes in one mode: cycles, and the regions of each function."""

    latency: float
    functions: tuple[list[Region], ...]
    region: RegionTime | None = None


def loop_rows(
    kernel: Kernel, written: Kernel, runs: dict[Mode, Run], explain: bool
) -> tuple[LoopEstimate, ...]:
    """The rows of a design's loops.

    Args:
        kernel: the design, as the tool sees it.
        written: with the directives that somebody wrote.
        runs: by mode, the average first.
        explain: whether each says what bounds it.
    """
    found: list[LoopEstimate] = []
    loops = [loop for function in written.functions for loop in loops_in(function.body)]
    complete = frozenset(loop.iv for loop in loops if loop.unroll == 0)
    for n, function in enumerate(kernel.functions):
        several = [runs[mode].functions[n] for mode in runs]
        _collect(_At(function.name, 0, explain, complete), several, found)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _At:
    """Where loops are; ``complete`` are those that somebody asked to unroll completely."""

    function: str
    level: int
    explain: bool
    complete: frozenset[str]


def _collect(at: _At, runs: Sequence[Sequence[Region]], found: list[LoopEstimate]) -> None:
    """The loops of regions; copies of one loop are counted, not listed."""
    seen = Counter(_names(region) for region in runs[0])
    inside = replace(at, level=at.level + 1)
    for versions in zip(*runs, strict=True):
        if versions[0].kind == "process":
            _collect(at, [r.children for r in versions], found)
            continue
        copies = seen.pop(_names(versions[0]), 0)
        if copies and versions[0].loops:
            found.append(_loop(at, versions, copies))
            _collect(inside, [r.children for r in versions], found)


def _names(region: Region) -> tuple[str, ...]:
    return tuple(loop.iv for loop in region.loops)


def _loop(at: _At, versions: Sequence[Region], copies: int) -> LoopEstimate:
    region = versions[0]
    kind = region.kind
    assert kind != "block"
    assert kind != "process", "its regions are listed, not itself"
    inner: Loop = region.loops[-1]
    pipeline = region.pipeline
    counts = [r.iterations for r in versions]
    depth = max(1, region.depth - 1) if pipeline is not None else region.depth
    latencies = [r.iterations_latency for r in versions]
    path: tuple[Step, ...] = ()
    if at.explain and region.body is not None and region.times is not None:
        path = critical_path(region.body, region.times)
    units = region_units(region)
    own = replace(region, children=[])
    return LoopEstimate(
        function=at.function,
        loops=tuple(loop.name for loop in region.loops),
        kind=kind,
        level=at.level,
        copies=copies,
        trips=Trips(round(min(counts)), round(max(counts)), counts[0]),
        unroll=inner.factor,
        asked=inner.ii,
        ii=pipeline.interval if pipeline is not None else region.interval or depth,
        depth=depth,
        latency=Cycles(latencies[0], round(min(latencies)), round(max(latencies))),
        limits=pipeline.limits if pipeline is not None else (),
        path=path,
        units=tuple(sorted(units.items())),
        dsp=units_dsp([own], units) + own_dsp([own]),
        statements=tuple(_statements(region.loops[0])),
        slowest=region.slowest,
        unrolled=_unrolled(at, inner),
    )


def _unrolled(at: _At, loop: Loop) -> tuple[str, ...]:
    """The loops inside of one that nobody asked to pipeline, of which the tool makes copies by itself."""
    if loop.ii is not None:
        return ()
    inside = (x for x in loops_in(loop.body) if x.unroll == 0 and x.iv not in at.complete)
    return tuple(dict.fromkeys(x.name for x in inside))


def _statements(loop: Loop) -> dict[str, None]:
    """Names of the statements inside, in order."""
    return {node.name: None for node in walk((loop,)) if isinstance(node, Statement)}
