"""About what a nest and a design take: enough to rank vectors of factors, by the same rules as the
model in `qor_gnn` has them; figures that are shown come from an evaluator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import ceil
from typing import NamedTuple

from dse.space.costs.pricing import Pricing, Sides, dsp_at, pricing, totals_at
from dse.space.memory.banks import port_interval
from dse.space.nests.ended import blocks_of, ends_early
from dse.space.nests.nest import Nest, Order, Vector
from dsl.schedules.steps import Tail
from qor_gnn.tools.personality import Personality

Units = tuple[tuple[str, float, int], ...]  # core, DSP of a unit, number of units

_CALL = 4  # about the cycles of starting and ending a pipeline


@dataclass(frozen=True, slots=True)
class Cost:
    """About what a nest takes: cycles over all its runs, units of cores, copies of its body.

    ``units`` is the number of each core (with the DSP of one). Nests run one after the other, so
    they share units: a design needs the most of each core that one of its nests needs. Units that
    are not shared are a core of their nest alone.
    """

    cycles: float
    units: Units
    copies: int
    interval: int
    tail: Tail = "remainder"
    dsp: float = field(init=False, compare=False)
    """Slices of the nest alone."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dsp", dsp_of([self.units]))


def dsp_of(units: Iterable[Units]) -> float:
    """DSP slices of a design whose nests need these units."""
    most: dict[tuple[str, float], int] = {}
    for one in units:
        for core, dsp, count in one:
            most[core, dsp] = max(count, most.get((core, dsp), 0))
    return sum(dsp * count for (_, dsp), count in most.items())


def cost(
    nest: Nest,
    order: Order,
    vector: Vector,
    registers: frozenset[str] = frozenset(),
    asked: int = 1,
) -> Cost:
    """What unrolling by a vector gives if the memories are partitioned for it.

    The interval is the recurrences' or the ports'. Iterations of constant loops are one pipeline; a loop of
    variable extent is filled and drained each time that it is entered. Extents that the factors do
    not divide leave remainder nests, or copies that are guarded, whichever is faster. Arrays in
    ``registers`` have no ports. Less than the interval that is ``asked`` for there is not.
    """
    known = pricing(order)
    ports = max(asked, port_interval(order, vector, registers))
    split = uneven(order, vector)
    whole = _part(nest, known, _even(known, vector, up=True), ports, guarded=split)
    tail: Tail = "remainder"
    cycles = whole.cycles
    if split:
        # A guard needs bounds that depend on no other loop.
        tail = "guard" if order.guards and known.constant else "remainder"
        apart = all(
            loop.separates or (loop.extent or 0) % u == 0
            for loop, u in zip(order.loops, vector, strict=True)
        )
        if apart or tail == "remainder":
            main, *rests = (_part(nest, known, sides, ports) for sides in _sides(known, vector))
            together = main.cycles + sum(part.cycles for part in rests)
            if tail == "remainder" or together <= cycles:
                tail, cycles, whole = "remainder", together, main
    units = _units(nest, known, vector, whole.interval)
    return Cost(cycles, units, order.copies(vector), whole.interval, tail)


@lru_cache(maxsize=65_536)
def tail_of(nest: Nest, order: Order, vector: Vector) -> Tail:
    """What becomes of the last iterations where a factor does not divide its loop's extent, whatever the banks are."""
    return cost(nest, order, vector).tail if uneven(order, vector) else "remainder"


def sharing_interval(
    nest: Nest, order: Order, vector: Vector, least: int, budget: int
) -> int | None:
    """The least interval, from ``least`` on, at which the units of a body fit a budget of DSP."""
    counts = pricing(order).counts(vector)
    wanted = ceil(dsp_at(totals_at(counts, 1), 1))
    if dsp_at(totals_at(counts, wanted), wanted) > budget:
        return None
    interval = max(least, ceil(wanted / max(1, budget)))
    while dsp_at(totals_at(counts, interval), interval) > budget:
        interval += 1
    return interval


def uneven(order: Order, vector: Vector) -> bool:
    """Whether a factor does not divide its loop's extent."""
    extents = pricing(order).extents
    return any(n is not None and n % u for n, u in zip(extents, vector, strict=True))


def _even(known: Pricing, vector: Vector, up: bool) -> Sides:
    """The main nest, or (``up``) all of it with the last blocks as full ones."""
    found: list[tuple[float, int]] = []
    jammed = 0.0  # more iterations of loops inside, where copies share them, each of which has another range
    for loop, u in zip(known.order.loops, vector, strict=True):
        if loop.jams:
            jammed += (u - 1) / 2
        if loop.extent is None:
            found.append((min(loop.average + jammed, 2 * loop.average), 1))
        elif u == 1:
            found.append((float(loop.trips) if ends_early(loop, 1) else loop.average, 1))
        else:
            whole = ceil(loop.extent / u) if up else loop.extent // u
            found.append((blocks_of(loop, u, whole), u))
    return tuple(found)


def part_sides(order: Order, vector: Vector, tail: Tail) -> list[Sides]:
    """The nests that a nest becomes: one, with guarded copies, or a main nest and all remainder nests."""
    known = pricing(order)
    if tail == "remainder" and uneven(order, vector):
        return _sides(known, vector)
    return [_even(known, vector, up=True)]


def _sides(known: Pricing, vector: Vector) -> list[Sides]:
    """The main nest and all remainder nests."""
    choices: list[list[tuple[float, int]]] = []
    even = _even(known, vector, up=False)
    for (blocks, u), extent in zip(even, known.extents, strict=True):
        rest = (extent or 0) % u
        choices.append([(blocks, u), (1, rest)] if rest else [(blocks, u)])
    return list(product(*choices))


class _Part(NamedTuple):
    cycles: float
    interval: int


def _part(nest: Nest, known: Pricing, sides: Sides, ports: int, guarded: bool = False) -> _Part:
    """One nest with so many blocks, and copies in each; ``guarded`` ones run under a condition."""
    order = known.order
    interval, chain = ports, 0.0
    early = max((k for k, s in enumerate(sides) if ends_early(order.loops[k], s[1])), default=0)
    drains, pipeline = order.drains, known.moving(sides)
    for each in known.carried:
        carry = each.carry
        blocks, copies = sides[each.level]
        if guarded or (carry.reduction and not carry.tree):
            # What other loops hand on to the same sum is in the chain as well.
            for other in each.others:
                copies *= sides[other][1]
        chain = max(chain, carry.links(copies, guarded))
        if blocks > 1 and not drains:
            delay = carry.delay_in(pipeline) + carry.closing(copies, pipeline, guarded)
            interval = max(interval, ceil(delay / carry.around(sides[each.level :])))
    around = order.depth + ceil(chain) + _CALL
    if order.cases and _told_apart(order, sides):
        return _Part(nest.runs * _of_cases(order, sides, interval, around), interval)
    trips, entered = 1.0, nest.runs
    first = len(sides) - 1 if drains else min(max(known.varies, early), len(sides) - 1)
    for blocks, _ in sides[:first]:
        entered *= blocks
    for blocks, _ in sides[first:]:
        trips *= blocks
    return _Part(entered * (interval * trips + around), interval)


def _told_apart(order: Order, sides: Sides) -> bool:
    """Whether loops are left that the conditions of a nest tell apart; those of copies are guards around each copy."""
    pairs = zip(order.loops, sides, strict=True)
    whole = (x.guarded and x.extent is not None and u == 1 < blocks for x, (blocks, u) in pairs)
    return any(whole)


def _of_cases(order: Order, sides: Sides, interval: int, around: int) -> float:
    """Cycles of all cases of a nest, one after the other, each a pipeline that fills and drains."""
    copies = {x.name: u for x, (_, u) in zip(order.loops, sides, strict=True)}
    total = 0.0
    for case in order.cases:
        entered = trips = 1.0
        flat = True
        for loop in reversed(case):
            u = copies.get(loop.loop, 1)
            blocks = max(1.0, ceil(loop.trips / u) if loop.constant else loop.trips / u)
            trips, entered = (trips * blocks, entered) if flat else (trips, entered * blocks)
            flat = flat and loop.alone and (loop.constant or u > 1)
        total += entered * (interval * trips + around)
    return total


def _units(nest: Nest, known: Pricing, vector: Vector, interval: int) -> Units:
    return tuple(
        [
            (core, dsp, ceil(n / interval))
            if shared
            else (f"{core} of {nest.leader}", dsp, ceil(n))
            for core, dsp, shared, n in totals_at(known.counts(vector), interval)
        ]
    )


def pipelined(order: Order, vector: Vector) -> frozenset[str]:
    """The loops with blocks that run as one pipeline: those with none of variable extent inside."""
    found: list[str] = []
    for loop, u in reversed(list(zip(order.loops, vector, strict=True))):
        if u != loop.extent:
            found.append(loop.name)
        if loop.extent is None or (order.drains and found):
            break
    return frozenset(found)


def stages(
    nests: Sequence[Nest], tool: Personality, beside: bool = False
) -> tuple[tuple[int, ...], ...]:
    """Numbers of the nests, those apart that a tool runs at the same time: all of them where they are processes
    with FIFOs between them (``beside``).

    In what Vitis HLS makes consecutive nests that share no array do; of nests inside a loop, only
    those inside the same. In what the open backend makes none do.
    """
    if beside:
        return (tuple(range(len(nests))),)
    if tool.is_open:
        return tuple((n,) for n in range(len(nests)))
    found: list[list[int]] = []
    for n, nest in enumerate(nests):
        last = [nests[k] for k in found[-1]] if found else []
        apart = all(
            not (nest.arrays & other.arrays) and nest.around == other.around and nest.runs > 0
            for other in last
        )
        if last and apart:
            found[-1].append(n)
        else:
            found.append([n])
    return tuple(map(tuple, found))


def design_units(groups: Iterable[Sequence[int]], units: Sequence[Units]) -> float:
    """DSP slices of a design: nests of a stage add up, stages share."""
    return dsp_of(tuple(added(units[n] for n in group)) for group in groups)


def added(units: Iterable[Units]) -> Units:
    """The units of nests that run at the same time."""
    total: dict[tuple[str, float], int] = {}
    for one in units:
        for core, dsp, count in one:
            total[core, dsp] = total.get((core, dsp), 0) + count
    return tuple((*key, count) for key, count in total.items())


class Shared:
    """The units that some stages share, and what they cost together with those of one more."""

    def __init__(self, stages: Iterable[Units]) -> None:
        """The most of each core that one of the stages needs."""
        self._most: dict[tuple[str, float], int] = {}
        for one in stages:
            for core, dsp, count in one:
                self._most[core, dsp] = max(count, self._most.get((core, dsp), 0))
        self._dsp = sum(dsp * count for (_, dsp), count in self._most.items())

    def dsp_with(self, stage: Units) -> float:
        """DSP slices of a design that has this stage too."""
        return self._dsp + sum(
            dsp * max(0, count - self._most.get((core, dsp), 0)) for core, dsp, count in stage
        )

    def besides(self, stage: Units, least: Units) -> Beside:
        """What a stage costs beside these as one nest of it, that has the ``least``, has other units."""
        others = added((stage, tuple((core, dsp, -count) for core, dsp, count in least)))
        return Beside(self._most, self._dsp, others)

    def units(self) -> Units:
        """What the stages need."""
        return tuple((*key, count) for key, count in self._most.items())


class Beside:
    """A stage of which one nest is still to have its units, beside what stages share."""

    def __init__(self, most: Mapping[tuple[str, float], int], dsp: float, stage: Units) -> None:
        """A nest's units are asked for.

        Args:
            most: units that the others share.
            dsp: what these cost.
            stage: units of the nests that have theirs.
        """
        self._most, self._stage = most, stage
        self._own = {(core, dsp): count for core, dsp, count in stage}
        self._each = {
            key: key[1] * max(0, count - most.get(key, 0)) for key, count in self._own.items()
        }
        self._dsp = dsp + sum(self._each.values())

    def dsp_with(self, units: Units) -> float:
        """DSP slices of all, with the nest's units."""
        total = self._dsp
        for core, dsp, count in units:
            key = (core, dsp)
            over = count + self._own.get(key, 0) - self._most.get(key, 0)
            total += dsp * max(0, over) - self._each.get(key, 0.0)
        return total

    def units(self, units: Units) -> Units:
        """Of the stage, with the nest's."""
        return added((self._stage, units))


def design_cycles(groups: Iterable[Sequence[int]], cycles: Sequence[float]) -> float:
    """Cycles of a design: one stage after the other, each as long as its longest nest."""
    return sum(max(cycles[n] for n in group) for group in groups)
