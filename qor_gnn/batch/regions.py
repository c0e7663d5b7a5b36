"""One part of a design (a top-level nest with the statements before it) under one set of factors.

What the composition of a function needs of its regions is here as numbers, and as a class: parts of
one class are composed alike, so that many of them are composed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from qor_gnn.area.binding import hoisted_units, region_units, units_of
from qor_gnn.area.resources import Coefficients
from qor_gnn.area.units import addresses_dsp
from qor_gnn.batch.logic import PartLogic, part_logic, whole_logic
from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD
from qor_gnn.design.region import Kernel, Mode, loops_in
from qor_gnn.schedule.bank_switches import epilogue_switches
from qor_gnn.schedule.clock import needed_period
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.schedule.prologue import left_behind, states_from
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.personality import Personality

Kind = Literal["pipeline", "sequential", "nest", "block"]
Element = tuple[int, tuple[int, ...]]
"""A memory and an address in it that nothing moves."""


@dataclass(frozen=True, slots=True)
class RegionClass:
    """What decides how a region is composed with the others.

    Attributes:
        kind: as `Region.kind`.
        prologue: it has states in front.
        stores: accumulators are stored after it.
        memories: that its own body touches.
        loaded: that are loaded in front of it; ``stored`` after it.
        left: elements that a pipeline leaves to blocks behind it.
    """

    kind: Kind
    prologue: bool
    stores: bool
    memories: frozenset[int]
    loaded: frozenset[int]
    stored: frozenset[int]
    left: frozenset[Element] = frozenset()


PartClass = tuple[RegionClass, ...]


@dataclass(frozen=True, slots=True)
class RegionNumbers:
    """What is added up. Prologues and latencies are by mode: average, minimum, maximum.

    Attributes:
        switches: states of the stores behind it if it is the last of the function.
        units: of each core by itself; ``inside`` those of the regions in its body, ``before`` those
            of what runs in front of it.
        address_dsp: DSP slices of addresses, inside too.
        behind: of a block, its states from its load of an element on.
    """

    prologue: tuple[float, ...]
    latency: tuple[float, ...]
    switches: tuple[float, ...]
    units: tuple[tuple[str, int], ...]
    inside: tuple[tuple[str, int], ...]
    before: tuple[tuple[str, int], ...]
    address_dsp: int
    behind: tuple[tuple[Element, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """The regions of a part.

    Attributes:
        kind: their classes, ``numbers`` what is added up of them.
        cores: an operator of each core: what a unit costs.
        period_ns: that it needs.
        logic: its LUTs and flip-flops; None where the tool was never calibrated.
    """

    kind: PartClass
    numbers: tuple[RegionNumbers, ...]
    cores: tuple[tuple[str, Operator], ...]
    period_ns: float
    logic: PartLogic | None


def modes_of(kernel: Kernel) -> tuple[Mode, ...]:
    """As `estimate` runs them: the average alone where no trip count varies."""
    for function in kernel.functions:
        for loop in loops_in(function.body):
            if loop.trips.minimum != loop.trips.maximum:
                return ("average", "minimum", "maximum")
    return ("average",)


def part_of(kernel: Kernel, tool: Personality, costs: Coefficients | None, only: bool) -> Part:
    """Schedule a part, which is a kernel of its own here, in all modes.

    Args:
        kernel: the part.
        tool: whose schedule it is.
        costs: of LUTs and flip-flops, if they are known.
        only: it is all of the design.
    """
    runs = runs_of(kernel, tool)
    logic = None
    if costs is not None:
        regions = runs["average"]
        logic = whole_logic(regions, costs) if only else part_logic(regions, costs)
    return part_from(runs, tool, logic)


def runs_of(kernel: Kernel, tool: Personality) -> dict[Mode, list[Region]]:
    """The regions of a part, which is a kernel of its own here, scheduled in its modes."""
    (function,) = kernel.functions
    return {
        mode: function_latency(Scope(kernel, tool, mode), function)[1] for mode in modes_of(kernel)
    }


def part_from(
    runs: Mapping[Mode, list[Region]], tool: Personality, logic: PartLogic | None
) -> Part:
    """A part of what `runs_of` scheduled."""
    several = list(runs.values())
    found = list(zip(*(several if len(several) == 3 else several * 3), strict=True))
    cores: dict[str, Operator] = {}
    for regions in found:
        _cores(regions[0], cores)
    return Part(
        tuple(_class(regions) for regions in found),
        tuple(_numbers(regions) for regions in found),
        tuple(sorted(cores.items(), key=lambda c: c[0])),
        needed_period([runs["average"]], tool),
        logic,
    )


def _class(modes: Sequence[Region]) -> RegionClass:
    region = modes[0]
    body = region.body
    if body is None:
        nothing = frozenset[int]()
        return RegionClass(region.kind, region.prologue > 0, False, nothing, nothing, nothing)
    table, graph = body.addresses, body.graph
    loaded = {graph.address[n] for n in body.prologue_loads}
    stored = set(body.epilogue)
    return RegionClass(
        region.kind,
        region.prologue > 0,
        bool(stored),
        region.memories,
        frozenset(table.shape(a).memory for a in loaded),
        frozenset(table.shape(a).memory for a in stored),
        frozenset(_fixed(body, left_behind(body) if region.kind == "pipeline" else ())),
    )


def _fixed(body: Body, addresses: Iterable[int]) -> dict[Element, int]:
    """The addresses that no counter moves, by element."""
    table = body.addresses
    shapes = ((a, table.shape(a)) for a in addresses)
    return {(s.memory, table.consts[a]): a for a, s in shapes if not any(s.terms)}


def _behind(region: Region) -> dict[Element, int]:
    """States of a block from its load of each element on."""
    body = region.body
    if region.kind != "block" or body is None:
        return {}
    graph = body.graph
    loaded = _fixed(body, (graph.address[n] for n in body.nodes if graph.kind[n] == LOAD))
    return {element: states_from(body, (a,)) for element, a in loaded.items()}


def _numbers(modes: Sequence[Region]) -> RegionNumbers:
    region = modes[0]
    return RegionNumbers(
        tuple(float(r.prologue) for r in modes),
        tuple(float(r.latency) for r in modes),
        tuple(_switches(r) for r in modes),
        tuple(sorted(region_units(region).items())),
        tuple(sorted(units_of(region.children).items())),
        tuple(sorted(hoisted_units(region).items())),
        addresses_dsp([region]),
        tuple(sorted(_behind(region).items())),
    )


def _switches(region: Region) -> float:
    if region.kind != "sequential" or region.body is None:
        return 0.0
    return float(epilogue_switches(region.body))


def _cores(region: Region, cores: dict[str, Operator]) -> None:
    if region.body is not None:
        for operator in region.body.graph.operator:
            if operator is not None:
                cores[operator.core] = operator
    for child in region.children:
        _cores(child, cores)
