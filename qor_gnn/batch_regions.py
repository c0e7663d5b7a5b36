"""One part of a design (a top-level nest with the statements before it) under one set of factors.

What the composition of a function needs of its regions is here as numbers, and as a class: parts of
one class are composed alike, so that many of them are composed at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from qor_gnn.binding import region_units, units_of
from qor_gnn.compose import function_latency
from qor_gnn.estimate import addresses_dsp
from qor_gnn.loops import Scope
from qor_gnn.personality import Personality
from qor_gnn.region import Kernel, Mode, loops_in
from qor_gnn.regions import Region
from qor_gnn.switches import epilogue_switches

Kind = Literal["pipeline", "sequential", "nest", "block"]


@dataclass(frozen=True, slots=True)
class RegionClass:
    """What decides how a region is composed with the others.

    Attributes:
        kind: as `Region.kind`.
        prologue: it has states in front.
        stores: accumulators are stored after it.
        memories: that its own body touches.
        loaded: that are loaded in front of it; ``stored`` after it.
    """

    kind: Kind
    prologue: bool
    stores: bool
    memories: frozenset[int]
    loaded: frozenset[int]
    stored: frozenset[int]


PartClass = tuple[RegionClass, ...]


@dataclass(frozen=True, slots=True)
class RegionNumbers:
    """What is added up. Prologues and latencies are by mode: average, minimum, maximum.

    Attributes:
        switches: states of the stores behind it if it is the last of the function.
        units: of each core by itself; ``inside`` those of the regions in its body.
        address_dsp: DSP slices of addresses, inside too.
    """

    prologue: tuple[float, ...]
    latency: tuple[float, ...]
    switches: tuple[float, ...]
    units: tuple[tuple[str, int], ...]
    inside: tuple[tuple[str, int], ...]
    address_dsp: int


@dataclass(frozen=True, slots=True)
class Part:
    """The regions of a part, and what a unit of each core costs in DSP slices."""

    kind: PartClass
    numbers: tuple[RegionNumbers, ...]
    dsp: tuple[tuple[str, int], ...]


def modes_of(kernel: Kernel) -> tuple[Mode, ...]:
    """As `estimate` runs them: the average alone where no trip count varies."""
    for function in kernel.functions:
        for loop in loops_in(function.body):
            if loop.trips.minimum != loop.trips.maximum:
                return ("average", "minimum", "maximum")
    return ("average",)


def part_of(kernel: Kernel, tool: Personality) -> Part:
    """Schedule a part, which is a kernel of its own here, in all modes."""
    (function,) = kernel.functions
    runs = [function_latency(Scope(kernel, tool, mode), function)[1] for mode in modes_of(kernel)]
    runs = runs if len(runs) == 3 else runs * 3
    found = list(zip(*runs, strict=True))
    cost: dict[str, int] = {}
    for regions in found:
        _costs(regions[0], cost)
    return Part(
        tuple(_class(regions) for regions in found),
        tuple(_numbers(regions) for regions in found),
        tuple(sorted(cost.items())),
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
    )


def _numbers(modes: Sequence[Region]) -> RegionNumbers:
    region = modes[0]
    return RegionNumbers(
        tuple(float(r.prologue) for r in modes),
        tuple(float(r.latency) for r in modes),
        tuple(_switches(r) for r in modes),
        tuple(sorted(region_units(region).items())),
        tuple(sorted(units_of(region.children).items())),
        addresses_dsp([region]),
    )


def _switches(region: Region) -> float:
    if region.kind != "sequential" or region.body is None:
        return 0.0
    return float(epilogue_switches(region.body))


def _costs(region: Region, cost: dict[str, int]) -> None:
    if region.body is not None:
        for operator in region.body.graph.operator:
            if operator is not None:
                cost[operator.core] = operator.dsp
    for child in region.children:
        _costs(child, cost)
