"""`estimate`: the white-box model's answer for a design.

The model schedules the region tree as the tool of a personality would; see docs/qor-model.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backends.devices import DEVICES, Device
from qor_gnn.area.binding import units_of
from qor_gnn.area.both_ports import both_ports, read_in
from qor_gnn.area.local_memories import local_memories
from qor_gnn.area.processes import (
    concurrent_terms,
    concurrent_units,
)
from qor_gnn.area.resources import Resources, coefficients, resources, terms_of
from qor_gnn.area.terms import Sums
from qor_gnn.area.units import own_dsp, units_bram, units_dsp
from qor_gnn.dataflow.region import region_time
from qor_gnn.design.region import Kernel, Mode, loops_in
from qor_gnn.memory.adapters import adapters_cost
from qor_gnn.result.loop_rows import Run, loop_rows
from qor_gnn.result.qor_estimate import Cycles, QorEstimate
from qor_gnn.schedule.alike import Alike
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.schedule.clock import clock_of
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.schedule.regions import Region
from qor_gnn.schedule.traffic import traffic
from qor_gnn.tools.personality import Personality, personality


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
        kernel: the region tree, from `qor_gnn.design.from_tree` or `qor_gnn.design.from_module`.
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
    written, kernel = kernel, automatic(kernel, found, kept)
    scopes = [Scope(kernel, found) for _ in kernel.functions]
    runs = {mode: _run(kernel, [s.taken(mode) for s in scopes]) for mode in _modes(kernel)}
    average = runs["average"]
    regions, units = _units(kernel, average)
    adapters = adapters_cost(written, found)
    met = both_ports(average.functions)
    memories = local_memories(written, found, kept).without_constants(read_in(average.functions))
    memory = memories.cost(met).plus(adapters)
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
    outside = any(m.port is not None for m in kernel.memories)
    in_units = units_bram(regions, units)
    blocks = None if found.is_open else memories.block_range(adapters.bram18 + in_units)
    clock = clock_of(average.functions, found, outside)
    return QorEstimate(
        kernel=kernel.name,
        latency=latency,
        loops=loop_rows(kernel, written, runs, explain),
        units=tuple(sorted(units.items())),
        dsp=units_dsp(regions, units) + own_dsp(regions),
        provenance="model",
        tool=found.name,
        device=place.name,
        clock_ns=found.clock_ns,
        bram18=memory.bram18 + in_units,
        bram18_range=blocks,
        both_ports=tuple(sorted(met)),
        uram=memory.uram,
        lut=logic.lut if logic is not None else None,
        ff=logic.ff if logic is not None else None,
        period_ns=clock.period_ns,
        clock=clock,
        sums=sums,
        region=average.region,
        traffic=() if found.is_open else traffic(kernel, average.functions),
    )


@dataclass(frozen=True, slots=True)
class Brief:
    """What is asked of a design that was estimated before, under other rules.

    Attributes:
        cycles: on average.
        dsp: slices.
    """

    cycles: float
    dsp: int


def brief(
    kernel: Kernel,
    tool: Personality,
    kept: frozenset[str] = frozenset(),
    known: Alike | None = None,
) -> Brief:
    """Cycles and DSP slices as `estimate` has them, without the rest: a schedule of the average trip counts alone.

    Args:
        kernel, tool, kept: as of `estimate`.
        known: scopes of the design under other rules, whose bodies are used again.

    Raises:
        ToolError: W451 an operator that the tool does not know.
    """
    kernel = automatic(kernel, tool, kept)
    kernel, scopes = (known or Alike()).scopes(kernel, tool)
    average = _run(kernel, scopes)
    regions, units = _units(kernel, average)
    return Brief(average.latency, units_dsp(regions, units) + own_dsp(regions))


def _logic(sums: Sums, tool: Personality) -> Resources | None:
    """LUTs and flip-flops; None where the tool was never calibrated."""
    costs = coefficients(tool.name)
    return resources(sums, costs) if costs is not None else None


def _modes(kernel: Kernel) -> tuple[Mode, ...]:
    """The average alone where no trip count varies."""
    for function in kernel.functions:
        for loop in loops_in(function.body):
            if loop.trips.minimum != loop.trips.maximum:
                return ("average", "minimum", "maximum")
    return ("average",)


def _units(kernel: Kernel, run: Run) -> tuple[list[Region], dict[str, int]]:
    """All regions of a design, and its units."""
    regions = [r for function in run.functions for r in function]
    return regions, concurrent_units(run.functions) if kernel.dataflow else units_of(regions)


def _run(kernel: Kernel, scopes: Sequence[Scope]) -> Run:
    """A design composed; a scope for each of its functions."""
    latencies, functions = [], []
    for function, scope in zip(kernel.functions, scopes, strict=True):
        states, regions = function_latency(scope, function)
        latencies.append(states)
        functions.append(regions)
    if kernel.dataflow:
        region = region_time(kernel, functions, latencies)
        return Run(region.latency, tuple(functions), region)
    # A function that the top calls takes a cycle more than its states; the top itself one less.
    between = len(functions) - 1 if kernel.outlined else -1
    return Run(sum(latencies) + between, tuple(functions))
