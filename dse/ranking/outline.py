"""What the regions of one nest take, by how often its loops run: scheduled once, then arithmetic.

The schedule of a body does not depend on the number of iterations; the time of a region does. An
`Outline` has what was scheduled, and the trip counts that it was scheduled with, so that the time under
other trip counts follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from qor_gnn.area.binding import region_units
from qor_gnn.area.units import own_dsp
from qor_gnn.body.body import Body
from qor_gnn.design.region import Kernel, Loop, Memory
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.schedule.compose import sequence
from qor_gnn.schedule.loops import Scope
from qor_gnn.schedule.pipeline import operations
from qor_gnn.schedule.prologue import released
from qor_gnn.schedule.reasons import Recurrence
from qor_gnn.schedule.regions import Region, bodies_in
from qor_gnn.tools.personality import Personality

Kind = Literal["pipeline", "sequential", "nest", "block", "process"]
Trips = Mapping[str, float]  # by the name of a loop


@dataclass(frozen=True, slots=True)
class Unit:
    """Of one core in a region: DSP slices of a unit, units, and how many operations they do where
    those of a pipeline share them evenly (else 0).
    """

    core: str
    dsp: int
    units: int
    operations: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """A region.

    Attributes:
        kind: as `Region.kind`.
        loops: names of the loops that it runs through, and their trip counts when it was scheduled.
        iterations: at these trip counts.
        interval, depth: of a pipeline; ``depth`` of others the states of an iteration.
        extra: states besides those of its iterations.
        prologue: states in front of it.
        gap: states between what runs before it and its prologue.
        beside: it runs at the same time as the one before.
        units: of its own body.
        memories: names of the arrays that it touches.
        children: the regions of an iteration, which ends ``behind`` states after the last of them.
        slowest: the most states that a value takes from one iteration to a later one.
        released: of a block the states until its values are there for what follows.
    """

    kind: Kind
    loops: tuple[tuple[str, float], ...]
    iterations: float
    interval: int
    depth: float
    extra: float
    prologue: int
    gap: float
    beside: bool
    units: tuple[Unit, ...]
    memories: frozenset[str]
    children: tuple[Outline, ...] = ()
    behind: float = 0
    slowest: int = 0
    released: int = 0

    def runs(self, trips: Trips) -> float:
        """How often its body runs under other trip counts."""
        found = self.iterations
        for name, scheduled in self.loops:
            found *= trips.get(name, scheduled) / scheduled
        return found

    def latency(self, trips: Trips) -> float:
        """States that it takes under other trip counts."""
        match self.kind:
            case "pipeline":
                runs = self.runs(trips)
                return max(0.0, runs - 1) * self.interval + max(1.0, self.depth - 1) + self.extra
            case "nest":
                inside = states(self.children, trips) + self.behind
                return self.runs(trips) * inside + self.extra
            case "process":
                return states(self.children, trips) + self.extra
            case "sequential":
                return self.runs(trips) * self.depth + self.extra
            case "block":
                return self.extra


def states(regions: Sequence[Outline], trips: Trips) -> float:
    """States of regions one after the other, as far as they are not beside one another."""
    end = called_at = 0.0
    for region in regions:
        if not region.beside:
            called_at = end + region.gap
        end = max(end, called_at + region.prologue + region.latency(trips))
    return end


def pipelines(regions: Iterable[Outline]) -> Iterator[Outline]:
    """Of some regions and of what they hold."""
    for region in regions:
        if region.kind == "pipeline":
            yield region
        yield from pipelines(region.children)


def deeper(region: Outline, states: int) -> Outline:
    """The region with so many states more in each of its pipelines."""
    if region.kind != "pipeline":
        return replace(region, children=tuple(deeper(r, states) for r in region.children))
    return replace(region, depth=region.depth + states)


@dataclass(frozen=True, slots=True)
class Outlined:
    """The regions of a nest, the states after the last of them, and DSP slices of addresses."""

    regions: tuple[Outline, ...]
    behind: float
    address_dsp: int

    def states(self, trips: Trips) -> float:
        """Under other trip counts."""
        return states(self.regions, trips) + self.behind


def repeated(nest: Outlined, times: int) -> Outlined:
    """A nest whose pipelines do so many iterations in one, each of which waits for the one before: on the same units."""
    return replace(nest, regions=tuple(_repeated(region, times) for region in nest.regions))


def _repeated(region: Outline, times: int) -> Outline:
    if region.kind != "pipeline":
        return replace(region, children=tuple(_repeated(r, times) for r in region.children))
    depth = region.depth + (times - 1) * region.interval
    units = tuple(replace(unit, operations=times * unit.operations) for unit in region.units)
    return replace(region, interval=times * region.interval, depth=depth, units=units)


def growth(one: Outlined, two: Outlined) -> float:
    """By how many states more the longest interval of a pipeline, or its depth, is in the second of two nests."""
    few, many = list(pipelines(one.regions)), list(pipelines(two.regions))
    if not few or not many:
        return 0
    return max(
        max(r.interval for r in many) - max(r.interval for r in few),
        max(r.depth for r in many) - max(r.depth for r in few),
    )


def extrapolated(one: Outlined, two: Outlined, times: float) -> Outlined:
    """The second of two nests, and ``times`` as much as it has more than the first."""
    if len(one.regions) != len(two.regions):
        return two
    pairs = zip(one.regions, two.regions, strict=True)
    return replace(two, regions=tuple(_further(a, b, times) for a, b in pairs))


def _further(a: Outline, b: Outline, times: float) -> Outline:
    if a.kind != b.kind or len(a.children) != len(b.children):
        return b
    children = tuple(_further(*pair, times) for pair in zip(a.children, b.children, strict=True))
    # A longer chain takes no fewer states: where the second has fewer, that was chance, no trend.
    return replace(
        b,
        interval=round(b.interval + times * max(0, b.interval - a.interval)),
        depth=round(b.depth + times * max(0, b.depth - a.depth)),
        children=children,
    )


def outlined(kernel: Kernel, tool: Personality, kept: frozenset[str], deep: int) -> Outlined:
    """Schedule a nest that is all of a kernel.

    Args:
        kernel: the nest, and the loops around it.
        tool: whose schedule it is.
        kept: names of loops whose unroll factor somebody wrote.
        deep: how many loops around the nest are not its own.

    Raises:
        ToolError: W451 an operator that the tool does not know.
        ValueError: a loop around the nest is gone, or there is nothing in it.
    """
    kernel = automatic(kernel, tool, kept)
    scope = Scope(kernel, tool)
    (function,) = kernel.functions
    around: list[Loop] = []
    nodes = function.body
    for _ in range(deep):
        loop = nodes[0] if len(nodes) == 1 else None
        if not isinstance(loop, Loop):
            raise ValueError("a loop around the nest is gone")
        around.append(loop)
        nodes = loop.body
    regions, at = sequence(scope, around, nodes)
    if not regions:
        raise ValueError("nothing is left of the nest")
    found, end = _outlines(regions)
    return Outlined(found, at - end, own_dsp(regions))


def _outlines(regions: Sequence[Region]) -> tuple[tuple[Outline, ...], float]:
    """The regions, and when the last of them ends."""
    found: list[Outline] = []
    end = called_at = 0.0
    for n, region in enumerate(regions):
        trailing = region.kind == "block" and n == len(regions) - 1
        latency = float(region.latency) if region.kind != "block" or trailing else 0.0
        prologue = region.prologue if region.kind != "block" else 0
        gap = 0.0
        if region.kind != "block" or trailing:
            if not region.beside:
                called_at = region.start - prologue
            gap = called_at - end if not region.beside else 0.0
            end = max(end, called_at + prologue + latency)
        found.append(_outline(region, latency, prologue, gap))
    return tuple(found), end


def _outline(region: Region, latency: float, prologue: int, gap: float) -> Outline:
    children, last = _outlines(region.children)
    trips = tuple((loop.name, max(1e-9, loop.trips.average)) for loop in region.loops)
    iterations, interval, depth = float(region.iterations), 1, float(region.depth)
    match region.kind:
        case "pipeline":
            assert region.pipeline is not None
            interval = region.pipeline.interval
            own = max(0.0, iterations - 1) * interval + max(1.0, depth - 1)
        case "block":
            own = 0.0
        case _:
            own = iterations * depth
    return Outline(
        region.kind,
        trips,
        iterations,
        interval,
        depth,
        latency - own,
        prologue,
        gap,
        region.beside,
        _units(region),
        _arrays(region),
        children,
        depth - last if children else 0.0,
        _slowest(region),
        _released(region),
    )


def _released(region: Region) -> int:
    if region.kind != "block" or region.body is None or region.times is None:
        return 0
    return released(region.body, region.times)


def _slowest(region: Region) -> int:
    found = region.pipeline.limits if region.pipeline is not None else ()
    return max((limit.delay for limit in found if isinstance(limit, Recurrence)), default=0)


def _arrays(region: Region) -> frozenset[str]:
    memories = {m.name: n for body in bodies_in((region,)) for n, m in _numbered(body)}
    return frozenset(name for name, n in memories.items() if n in region.memories)


def _numbered(body: Body) -> Iterator[tuple[int, Memory]]:
    return enumerate(body.addresses.memories)


def _units(region: Region) -> tuple[Unit, ...]:
    if region.body is None:
        return ()
    costs = {o.core: o.dsp for o in region.body.graph.operator if o is not None}
    count = operations(region.body) if region.kind == "pipeline" else {}
    interval = region.pipeline.interval if region.pipeline is not None else 1
    found = []
    for core, units in region_units(region).items():
        even = count.get(core, 0) if units == -(-count.get(core, 0) // interval) else 0
        if costs.get(core):
            found.append(Unit(core, costs[core], units, even))
    return tuple(found)
