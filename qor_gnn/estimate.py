"""`estimate`: the white-box model's answer for a design, and `QorEstimate`, what every answer is.

The model schedules the region tree as the tool of a personality would; see docs/qor-model.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from backends.devices import DEVICES, Device
from qor_gnn.address_cost import address_dsp, exits_dsp
from qor_gnn.automatic import automatic
from qor_gnn.binding import region_units, units_of
from qor_gnn.clock import needed_period
from qor_gnn.compose import function_latency
from qor_gnn.dataflow import RegionTime, region_time
from qor_gnn.explain import critical_path
from qor_gnn.loops import Scope
from qor_gnn.personality import Personality, personality
from qor_gnn.processes import (
    channels_cost,
    concurrent_terms,
    concurrent_units,
    without_channels,
)
from qor_gnn.reasons import Limit, Step
from qor_gnn.region import Kernel, Loop, Mode, Statement, Trips, loops_in, walk
from qor_gnn.regions import Region
from qor_gnn.resource_terms import Sums
from qor_gnn.resources import Resources, coefficients, resources, terms_of
from qor_gnn.storage import StorageCost, memory_cost, storage_rules
from qor_gnn.storage_auto import local_memory

Provenance = Literal["model", "gnn", "csynth", "cosim", "rtl-sim", "post-synth", "post-route"]


@dataclass(frozen=True, slots=True)
class Cycles:
    """A latency in cycles: over all executions, and as the tool reports it from trip counts.

    ``minimum`` and ``maximum`` take every loop at its least and its most iterations.
    """

    average: float
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class LoopEstimate:
    """One loop, or nest flattened into one.

    Attributes:
        function: the function that it is in.
        loops: names of the loops, outermost first; several where they were flattened.
        kind: ``pipeline``, ``sequential`` or ``nest`` (a sequential loop with regions inside).
        level: how many regions are around it.
        copies: how often it is there: copies of an unrolled loop around it.
        trips: iterations each time that it is entered, of the unrolled loop.
        unroll: copies of the innermost loop's body.
        asked: the interval that was asked for; None where it is not pipelined.
        ii: the interval; of a sequential loop the iteration latency.
        depth: the iteration latency, as the tool reports it.
        latency: cycles each time that it is entered.
        limits: what bounds the interval from below, the strongest first.
        path: the critical path of an iteration.
        units: that it needs of each core by itself; a design shares them between its loops.
        dsp: of these units and of its addresses; 0 of a nest, whose loops have them.
        statements: names of the statements inside.
    """

    function: str
    loops: tuple[str, ...]
    kind: Literal["pipeline", "sequential", "nest"]
    level: int
    copies: int
    trips: Trips
    unroll: int
    asked: int | None
    ii: float
    depth: float
    latency: Cycles
    limits: tuple[Limit, ...]
    path: tuple[Step, ...]
    units: tuple[tuple[str, int], ...]
    dsp: int
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QorEstimate:
    """What a design costs, and where the numbers came from.

    ``None`` is what was not estimated. Memories are counted in BRAM18. ``period_ns`` is the least
    period that the schedule keeps: above ``clock_ns`` where an operator does not fit into that; of the
    open backend what is expected after routing, above or below.
    ``sums`` is what LUT and FF were summed from, memories included, for predictors that fit them
    anew. ``region`` is the dataflow region, if it is one.
    ``directives`` has what the tool makes of each directive that it does not do as it is written, where
    that was asked for.
    """

    kernel: str
    latency: Cycles
    loops: tuple[LoopEstimate, ...]
    units: tuple[tuple[str, int], ...]
    dsp: int
    provenance: Provenance
    tool: str
    device: str
    clock_ns: float
    lut: int | None = None
    ff: int | None = None
    bram18: int | None = None
    uram: int | None = None
    period_ns: float | None = None
    sums: Sums | None = field(default=None, compare=False, repr=False)
    region: RegionTime | None = None
    directives: tuple[str, ...] = field(default=(), compare=False)


def estimate(
    kernel: Kernel,
    tool: Personality | str | None = None,
    device: Device | str | None = None,
    *,
    explain: bool = False,
    kept: frozenset[str] = frozenset(),
) -> QorEstimate:
    """Schedule a design as the tool would.

    Args:
        kernel: the region tree, from `qor_gnn.from_tree` or `qor_gnn.from_module`.
        tool: the personality or its name; None for the default one.
        device: where it is to run; None for the personality's own.
        explain: give the critical path of each loop too.
        kept: loops whose unroll factor somebody wrote, a factor of 1 included: a tool that unrolls
            short loops by itself leaves them alone.

    Raises:
        ToolError: W450 no such personality, W451 an operator that it does not know.
    """
    found = tool if isinstance(tool, Personality) else personality(*([tool] if tool else []))
    place = device if isinstance(device, Device) else DEVICES[device or found.device]
    memory = local_storage(kernel, found, kept)
    kernel = automatic(kernel, found, kept)
    runs = {mode: _run(kernel, found, mode) for mode in _modes(kernel)}
    average = runs["average"]
    regions = [r for function in average.functions for r in function]
    units = concurrent_units(average.functions) if kernel.dataflow else units_of(regions)
    latency = Cycles(
        average.latency,
        round(runs.get("minimum", average).latency),
        round(runs.get("maximum", average).latency),
    )
    sums = (
        concurrent_terms(average.functions)
        if kernel.dataflow
        else terms_of(average.functions, units)
    )
    sums.lut_fixed += memory.lut
    sums.ff_fixed += memory.ff
    logic = _logic(sums, found)
    return QorEstimate(
        kernel=kernel.name,
        latency=latency,
        loops=loop_rows(kernel, runs, found, explain),
        units=tuple(sorted(units.items())),
        dsp=_dsp(regions, units) + addresses_dsp(regions),
        provenance="model",
        tool=found.name,
        device=place.name,
        clock_ns=found.clock_ns,
        bram18=memory.bram18 + _unit_bram(regions, units),
        uram=memory.uram,
        lut=logic.lut if logic is not None else None,
        ff=logic.ff if logic is not None else None,
        period_ns=needed_period(average.functions, found),
        sums=sums,
        region=average.region,
    )


def _logic(sums: Sums, tool: Personality) -> Resources | None:
    """LUTs and flip-flops; None where the tool was never calibrated."""
    costs = coefficients(tool.name)
    return resources(sums, costs) if costs is not None else None


def local_storage(kernel: Kernel, tool: Personality, kept: frozenset[str]) -> StorageCost:
    """What the local arrays cost, split as somebody or the tool splits them."""
    rules = storage_rules(tool.name)
    total = channels_cost(kernel, rules)
    kernel = without_channels(kernel)
    if tool.options.auto_partition:
        return total.plus(local_memory(kernel, rules, kept))
    for memory in kernel.memories:
        if memory.shape and not memory.argument:
            total = total.plus(memory_cost(memory, rules))
    return total


@dataclass(frozen=True, slots=True)
class Run:
    """What a design takes in one mode: cycles, and the regions of each function."""

    latency: float
    functions: tuple[list[Region], ...]
    region: RegionTime | None = None


def _modes(kernel: Kernel) -> tuple[Mode, ...]:
    """The average alone where no trip count varies."""
    for function in kernel.functions:
        for loop in loops_in(function.body):
            if loop.trips.minimum != loop.trips.maximum:
                return ("average", "minimum", "maximum")
    return ("average",)


def _run(kernel: Kernel, tool: Personality, mode: Mode) -> Run:
    latencies, functions = [], []
    for function in kernel.functions:
        states, regions = function_latency(Scope(kernel, tool, mode), function)
        latencies.append(states)
        functions.append(regions)
    if kernel.dataflow:
        region = region_time(kernel, functions, latencies)
        return Run(region.latency, tuple(functions), region)
    # A function that the top calls takes a cycle more than its states; the top itself one less.
    between = len(functions) - 1 if kernel.outlined else -1
    return Run(sum(latencies) + between, tuple(functions))


def _dsp(regions: Sequence[Region], units: dict[str, int]) -> int:
    """DSP slices of all units."""
    cost: dict[str, int] = {}
    for region in regions:
        _costs(region, cost)
    return sum(n * cost.get(core, 0) for core, n in units.items())


def _unit_bram(regions: Sequence[Region], units: dict[str, int]) -> int:
    """BRAM18 inside of operators: tables of functions."""
    cost: dict[str, int] = {}
    for region in regions:
        _tables(region, cost)
    return sum(units.get(core, 0) * n for core, n in cost.items())


def _tables(region: Region, cost: dict[str, int]) -> None:
    if region.body is not None:
        for operator in region.body.graph.operator:
            if operator is not None and operator.bram18:
                cost[operator.core] = operator.bram18
    for child in region.children:
        _tables(child, cost)


def addresses_dsp(regions: Sequence[Region]) -> int:
    """DSP slices of addresses: each module has its own."""
    return _addresses_dsp(regions) + exits_dsp(regions)


def _addresses_dsp(regions: Sequence[Region]) -> int:
    own = sum(address_dsp(r.body) for r in regions if r.body is not None)
    return own + sum(_addresses_dsp(r.children) for r in regions)


def _costs(region: Region, cost: dict[str, int]) -> None:
    if region.body is not None:
        for operator in region.body.graph.operator:
            if operator is not None:
                cost[operator.core] = operator.dsp
    for child in region.children:
        _costs(child, cost)


# ----------------------------------------------------------------------------------------- loops


def loop_rows(
    kernel: Kernel, runs: dict[Mode, Run], tool: Personality, explain: bool
) -> tuple[LoopEstimate, ...]:
    """The rows of a design's loops.

    Args:
        kernel: the design.
        runs: by mode, the average first.
        tool: whose schedule it is.
        explain: whether each says what bounds it.
    """
    found: list[LoopEstimate] = []
    for n, function in enumerate(kernel.functions):
        several = [runs[mode].functions[n] for mode in runs]
        _collect(_At(function.name, 0, explain), several, found)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _At:
    function: str
    level: int
    explain: bool


def _collect(at: _At, runs: Sequence[Sequence[Region]], found: list[LoopEstimate]) -> None:
    """The loops of regions; copies of one loop are counted, not listed."""
    seen = Counter(_names(region) for region in runs[0])
    inside = replace(at, level=at.level + 1)
    for versions in zip(*runs, strict=True):
        copies = seen.pop(_names(versions[0]), 0)
        if copies and versions[0].loops:
            found.append(_loop(at, versions, copies))
            _collect(inside, [r.children for r in versions], found)


def _names(region: Region) -> tuple[str, ...]:
    return tuple(loop.iv for loop in region.loops)


def _loop(at: _At, versions: Sequence[Region], copies: int) -> LoopEstimate:
    region = versions[0]
    assert region.kind != "block"
    inner: Loop = region.loops[-1]
    pipeline = region.pipeline
    counts = [r.iterations for r in versions]
    depth = region.depth - 1 if pipeline is not None else region.depth
    latencies = [r.iterations_latency for r in versions]
    path: tuple[Step, ...] = ()
    if at.explain and region.body is not None and region.times is not None:
        path = critical_path(region.body, region.times)
    units = region_units(region)
    own = replace(region, children=[])
    return LoopEstimate(
        function=at.function,
        loops=tuple(loop.name for loop in region.loops),
        kind=region.kind,
        level=at.level,
        copies=copies,
        trips=Trips(round(min(counts)), round(max(counts)), counts[0]),
        unroll=inner.factor,
        asked=inner.ii,
        ii=pipeline.interval if pipeline is not None else depth,
        depth=depth,
        latency=Cycles(latencies[0], round(min(latencies)), round(max(latencies))),
        limits=pipeline.limits if pipeline is not None else (),
        path=path,
        units=tuple(sorted(units.items())),
        dsp=_dsp([own], units) + addresses_dsp([own]),
        statements=tuple(_statements(region.loops[0])),
    )


def _statements(loop: Loop) -> dict[str, None]:
    """Names of the statements inside, in order."""
    return {node.name: None for node in walk((loop,)) if isinstance(node, Statement)}
