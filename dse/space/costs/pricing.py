"""What pricing the vectors of an order asks again and again, found once: searches price thousands of each.

`dse.space.costs.cost` has the rules; here are the loops that hand something on, the operations that are counted alike, and
which loops a pipeline runs through, by their positions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil

from dse.space.nests.nest import Carry, Order, Vector

Sides = tuple[tuple[float, int], ...]  # per loop: blocks, and copies in a block
Counts = list[tuple[str, float, float, float]]
"""Of kinds of operations: core, DSP of a unit, the least interval at which units are shared, how many there are."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A loop that hands a value on: its position, and those of the others that hand on what may be the same sum."""

    level: int
    carry: Carry
    others: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Alike:
    """Operations of one core in the same loops: a bit for each loop, their positions, and how many there are."""

    core: str
    dsp: float
    shared_from: float
    loops: int
    places: tuple[int, ...]
    count: float


@dataclass(slots=True)
class Pricing:
    """Of one order.

    Attributes:
        order: the order.
        extents: of its loops; None where it varies.
        carried: what they hand on, the outermost first.
        jams: whether copies of a loop run inside of loops further in.
        varies: the position of the innermost loop of variable extent, 0 where there is none.
        constant: whether no extent varies.
    """

    order: Order
    extents: tuple[int | None, ...] = field(init=False)
    carried: tuple[Carried, ...] = field(init=False)
    jams: bool = field(init=False)
    varies: int = field(init=False)
    constant: bool = field(init=False)
    _operations: tuple[_Alike, ...] = field(init=False)
    _names: dict[tuple[bool, ...], frozenset[str]] = field(default_factory=dict)
    _counts: dict[Vector, Counts] = field(default_factory=dict)  # each budget asks again

    def __post_init__(self) -> None:
        loops = self.order.loops
        self.extents = tuple(loop.extent for loop in loops)
        self.jams = any(loop.jams for loop in loops)
        self.varies = max((k for k, n in enumerate(self.extents) if n is None), default=0)
        self.constant = None not in self.extents
        self.carried = tuple(
            Carried(level, carry, self._same_sum(level, carry))
            for level, loop in enumerate(loops)
            for carry in loop.carries
        )
        self._operations = self._alike()

    def _same_sum(self, level: int, carry: Carry) -> tuple[int, ...]:
        return tuple(
            k
            for k, loop in enumerate(self.order.loops)
            if k != level and any(map(carry.same_sum, loop.carries))
        )

    def _alike(self) -> tuple[_Alike, ...]:
        """Operations that are counted alike, in the order in which they come. Sums of whole numbers are the same in
        any order; where only a share of some is there, all are left as they are.
        """
        operations, loops = self.order.operations, self.order.loops
        whole = all(o.share == 1 for o in operations)
        found: dict[object, _Alike] = {}
        for n, o in enumerate(operations):
            # Loops of one name, inside of different statements, count once.
            last = {loop.name: k for k, loop in enumerate(loops) if loop.name in o.loops}
            places = tuple(last.values())
            key = (o.core, o.dsp, o.shared_from, places) if whole else n
            count = o.share + (found[key].count if key in found else 0)
            bits = sum(1 << k for k, loop in enumerate(loops) if loop.name in o.loops)
            found[key] = _Alike(o.core, o.dsp, o.shared_from, bits, places, count)
        return tuple(found.values())

    def moving(self, sides: Sides) -> frozenset[str]:
        """The loops with several blocks that run as one pipeline."""
        several = tuple([blocks > 1 for blocks, _ in sides])
        found = self._names.get(several)
        if found is None:
            found = self._names[several] = frozenset(self._pipeline(several))
        return found

    def _pipeline(self, several: tuple[bool, ...]) -> list[str]:
        found: list[str] = []
        for loop, mine in zip(reversed(self.order.loops), reversed(several), strict=True):
            if mine:
                found.append(loop.name)
            if loop.extent is None or (self.order.drains and found):
                break
        return found

    def _pipelined(self, vector: Vector) -> int:
        """A bit for each loop with blocks that runs as one pipeline: those with none of variable extent inside."""
        found = 0
        for k in range(len(vector) - 1, -1, -1):
            extent = self.extents[k]
            if vector[k] != extent:
                found |= 1 << k
            if extent is None or (self.order.drains and found):
                break
        return found

    def counts(self, vector: Vector) -> Counts:
        """Of each kind of operation in a body the core, the DSP of a unit, the least interval at which units are shared,
        and how many there are.
        """
        found = self._counts.get(vector)
        if found is None:
            found = self._counts[vector] = self._counted(vector)
        return found

    def _counted(self, vector: Vector) -> Counts:
        moving = self._pipelined(vector)
        found = []
        for o in self._operations:
            if moving and not moving & o.loops:
                continue  # in front of the pipeline, on its units
            copies = 1
            for k in o.places:
                copies *= vector[k]
            found.append((o.core, o.dsp, o.shared_from, copies * o.count))
        return found


Totals = list[
    tuple[str, float, bool, float]
]  # core, DSP of a unit, whether units are shared, operations


def totals_at(counts: Counts, interval: int) -> Totals:
    """Operations of each core, those apart that share no units in a pipeline of an interval."""
    totals: dict[tuple[str, float, bool], float] = {}
    for core, dsp, shared_from, count in counts:
        key = (core, dsp, interval >= shared_from)
        totals[key] = totals.get(key, 0) + count
    return [(*key, n) for key, n in totals.items()]


def dsp_at(totals: Totals, interval: int) -> float:
    """DSP slices of the units that do so many operations in each interval."""
    return sum(dsp * (ceil(n / interval) if shared else ceil(n)) for _, dsp, shared, n in totals)


@lru_cache(maxsize=4096)
def pricing(order: Order) -> Pricing:
    """Of an order."""
    return Pricing(order)
