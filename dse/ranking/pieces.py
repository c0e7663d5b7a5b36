"""What a nest of a design takes each time that it is entered, and the units of its regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from dse.ranking.outline import Outline, pipelines
from dse.ranking.templates import Leaf
from dse.space.costs.cost import Shared, Units, added
from qor_gnn.tools.personality import Personality


@dataclass(frozen=True, slots=True)
class Piece:
    """What one nest takes each time that it is entered.

    Attributes:
        states: from its start to its end.
        first: states in front of its first region that it does not need behind a call.
        calls: whether it begins, and ends, with a call.
        units: of its regions, the most of each core.
        memories: names of the arrays that it touches.
        address_dsp: DSP slices of addresses.
        piped: a pipeline is in it.
        rates: of each nest that it becomes the longest interval of a pipeline, and the states of an iteration.
        is_pipeline: it is one, and nothing else.
    """

    states: float
    first: float
    calls: tuple[bool, bool]
    units: Units
    memories: frozenset[str]
    address_dsp: int
    piped: bool
    rates: tuple[tuple[int, int], ...] = ()
    is_pipeline: bool = False


def joined(leaves: Sequence[Leaf], tool: Personality) -> Piece:
    """The nests that a nest becomes, one after the other."""
    at = 0.0
    ended = False
    for leaf in leaves:
        regions = leaf.found.regions
        states = leaf.found.states(leaf.trips)
        if ended and regions[0].kind == "pipeline":
            states -= regions[0].prologue
        at += states
        ended = regions[-1].kind == "pipeline"
    units = units_in([(r, {"": x.more}) for x in leaves for r in x.found.regions], tool)
    regions = tuple(r for leaf in leaves for r in leaf.found.regions)
    first = regions[0]
    memories = frozenset[str]().union(*(r.memories for r in regions))
    prologue = first.prologue if first.kind == "pipeline" else 0
    address = sum(leaf.found.address_dsp for leaf in leaves)
    calls = (first.kind == "pipeline", ended)
    rates = tuple(_rate(leaf.found.regions) for leaf in leaves)
    alone = len(regions) == 1 and first.kind == "pipeline"
    return Piece(at, prologue, calls, units, memories, address, piped(regions), rates, alone)


def _rate(regions: Sequence[Outline]) -> tuple[int, int]:
    """The longest interval of a pipeline, and the states of its iteration; of others an iteration's states."""
    found = [(r.interval, round(r.depth)) for r in pipelines(regions)]
    return max(found, default=(1, round(max(r.depth for r in regions))))


More = Mapping[str, Mapping[str, float]]
"""Operations of each core for one that was scheduled, by the prefix of a nest's loops."""


def units_in(regions: Sequence[tuple[Outline, More]], tool: Personality) -> Units:
    """The units of regions one after the other, with all copies, as `qor_gnn.area.binding` shares them.

    Args:
        regions: as they were scheduled, and what they stand for.
        tool: whose units they are.
    """
    found: list[Units] = []
    stage: Units = ()
    for position, (region, more) in enumerate(regions):
        own = _own_units(region, more)
        beside = regions[position + 1 : position + 2]
        if tool.composition.blocks == "raised" and _raised(regions, position):
            own = added((own, _own_units(*beside[0])))
        if region.beside:
            stage = added((stage, own))
        elif region.kind != "block" or position == len(regions) - 1:
            stage = own
        found += [own, stage, units_in([(child, more) for child in region.children], tool)]
    return Shared(found).units()


def _raised(regions: Sequence[tuple[Outline, More]], position: int) -> bool:
    """A block between two pipelines, which moves above the first."""
    if regions[position][0].kind != "block" or not 0 < position < len(regions) - 1:
        return False
    around = (regions[position - 1][0], regions[position + 1][0])
    return all(region.kind == "pipeline" for region in around)


def _own_units(region: Outline, more: More) -> Units:
    own = []
    name = region.loops[-1][0] if region.loops else ""
    mine = more.get(name[: name.rfind(".") + 1], {})
    for unit in region.units:
        times = mine.get(unit.core, 1.0)
        if unit.operations:
            count = ceil(round(unit.operations * times) / region.interval)
        else:
            count = round(unit.units * times)
        own.append((unit.core, unit.dsp, count))
    return tuple(own)


def piped(regions: Iterable[Outline]) -> bool:
    """Whether a pipeline is in them."""
    return any(True for _ in pipelines(regions))
