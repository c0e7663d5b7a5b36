"""LUTs of a nest: of each of the bodies that it becomes, and what of them other nests share.

Operators of logic are there for each copy. The others are units, so many as an interval needs, with multiplexers in
front where several operations take turns. What there is besides is around the accesses (`dse.area.accesses`), or control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, prod

from dse.area.accesses import ArrayAccesses, Counts
from dse.space.costs.cost import Cost, part_sides
from dse.space.memory.banks import Demand
from dse.space.nests.nest import Nest, NestLoop, Order, Vector
from qor_gnn.area.control import counter_lut
from qor_gnn.area.multiplexers import ADDER, multiplexer
from qor_gnn.tools.personality import Personality

_OPERANDS = 2  # of a unit
_AROUND = (
    2  # states that are in `Order.depth` for what comes before and after most pipelines of logic
)
_WAITS = 2  # iterations from which on the address of a store is in a shift register

Rates = Sequence[tuple[int, int]]
"""Of each body the cycles between iterations, and the states of one."""


@dataclass(frozen=True, slots=True)
class Module:
    """What a body shares with others.

    Attributes:
        units: of each core.
        read, written: banks of each array.
    """

    units: Mapping[str, int]
    read: Mapping[str, int]
    written: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NestArea:
    """LUTs that a nest has for itself, and its bodies with what they share."""

    lut: float
    modules: tuple[Module, ...]


@dataclass(slots=True)
class OrderAreas:
    """Of one order of a nest, under any factors.

    Attributes:
        nest: the nest.
        order: of its loops.
        tool: whose figures they are.
        each: LUTs of one of each term of `qor_gnn.area.terms`.
    """

    nest: Nest
    order: Order
    tool: Personality
    each: Mapping[str, float]
    _arrays: list[ArrayAccesses] = field(init=False)
    _alone: dict[frozenset[str], float] = field(init=False)
    _guards: dict[frozenset[str], float] = field(init=False)
    _shared: dict[str, list[tuple[frozenset[str], float]]] = field(init=False)

    def __post_init__(self) -> None:
        joint = self.tool.multiplexers.banks == "joint"
        uses = self.order.uses
        self._arrays = [
            ArrayAccesses(array, tuple(use for use in uses if use.array == array), joint)
            for array in dict.fromkeys(use.array for use in uses)
        ]
        names = {loop.name for loop in self.order.loops}
        self._alone, self._guards, self._shared = {}, {}, {}
        for one in self.order.fabric:
            loops = one.loops & names
            if one.shared:
                self._shared.setdefault(one.core, []).append((loops, one.share))
            else:
                mine = self._guards if one.guard else self._alone
                mine[loops] = mine.get(loops, 0) + one.lut * one.share

    def area(self, vector: Vector, found: Cost, banks: Demand, rates: Rates = ()) -> NestArea:
        """What the nest takes.

        Args:
            vector: copies of each loop.
            found: its cost: the interval, and what becomes of a rest that factors leave.
            banks: by array and dimension.
            rates: of its bodies, where they are known better.
        """
        parts = part_sides(self.order, vector, found.tail)
        if len(rates) != len(parts):
            rates = [(found.interval, max(1, self.order.depth - _AROUND))] * len(parts)
        total = self.each["outer"] * len(self.nest.around)
        modules = []
        for sides, rate in zip(parts, rates, strict=True):
            copies, blocks = {}, {}
            for loop, (count, u) in zip(self.order.loops, sides, strict=True):
                copies[loop.name] = u
                if loop.extent is not None:
                    blocks[loop.name] = ceil(count)
            lut, module = self._body(copies, blocks, rate, banks)
            total += lut
            modules.append(module)
            if len(parts) == 1:
                total += self._guarded(copies)
        return NestArea(total, tuple(modules))

    def _guarded(self, copies: Counts) -> float:
        """Of copies under guards, where factors leave a rest: comparisons, and selections of sums."""
        total = 0.0
        uneven = [x for x in self.order.band if x.extent and x.extent % copies[x.name]]
        for loop in uneven:
            bits = max(1, loop.extent or 1).bit_length()
            if self.tool.guards.compared:
                total += (copies[loop.name] - 1) * (bits + ADDER)
        for loops, lut in self._guards.items() if uneven else ():
            total += lut * prod(copies[v] for v in loops)
        return total

    def _body(
        self, copies: Counts, blocks: Counts, rate: tuple[int, int], banks: Demand
    ) -> tuple[float, Module]:
        each = self.each
        left = [loop for loop in self.order.loops if blocks.get(loop.name, 2) > 1]
        # What runs once is no pipeline: its operations are in different states.
        interval, depth = rate if left else (max(1, rate[1]), rate[1])
        total = self._control(left, blocks, interval, depth) if left else 0.0
        for loops, lut in self._alone.items():
            total += lut * prod(copies[v] for v in loops)
        units: dict[str, int] = {}
        for core, operations in self._shared.items():
            count = sum(share * prod(copies[v] for v in loops) for loops, share in operations)
            units[core] = ceil(count / interval)
            several = ceil(count / units[core])
            if several > 1:
                chosen = units[core] * multiplexer(several + 1)
                total += each["operands"] * _OPERANDS * chosen
        read, written = {}, {}
        # Stores are last; where ports make some loads late, most of them are a state before.
        waits = tuple([(depth - k) // interval >= _WAITS for k in (2, 1)])
        for one in self._arrays:
            dims = range(len(one.uses[0].shape))
            factors = tuple([banks.get((one.array, d), 1) for d in dims])
            found = one.traffic(copies, blocks, factors, waits)
            total += each["banks_pipelined"] * found.selections
            total += each["decoder"] * found.decoders + each["long"] * found.shifted
            total += each["port_reads"] * found.reads + each["port_writes"] * found.writes
            read[one.array], written[one.array] = found.read, found.written
        return total, Module(units, read, written)

    def _control(
        self, loops: Sequence[NestLoop], blocks: Counts, interval: int, depth: int
    ) -> float:
        """Of a pipeline besides what is in its body."""
        each, policy = self.each, self.tool.control
        total = each["pipeline"] + each["copies_pipelined"] + each["levels"] * len(loops)
        total += each["stages"] * policy.enables(depth, interval)
        total += each["loop_flat"] * policy.flattened_loops(len(loops))
        for loop in loops:
            trips = blocks.get(loop.name, ceil(loop.average))
            total += each["loop"] * counter_lut(trips, self.tool, compared=True)
        return total
