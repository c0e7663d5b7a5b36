"""The least cycles in which units within a budget get through all operations.

A unit starts one operation a cycle, so ``cycles`` take at least ``ceil(operations / cycles)`` units of each kind.
A kind may be built in several ways, with more DSP slices or with more LUTs, and a design may mix them. Whatever
the mix, it costs at least the cheapest way at any prices of a slice and of a LUT, and at most the whole budget at
the same prices. This is a linear program, so the prices at which two ways of a kind cost the same are all that
need be asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import ceil

Cost = tuple[int, int]
"""DSP slices and LUTs of a unit, or prices of one of each."""


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations of one kind.

    Attributes:
        times: the least number of them.
        ways: the DSP slices and LUTs of a unit, for each way to build it.
        logic: a unit of integers, which may be had without slices in ways that no report shows: it does not
            count where LUTs are plenty.
        with_sum: a product that a slice does together with a sum of it.
        is_sum: what such a slice may have done already.
    """

    times: int
    ways: tuple[Cost, ...]
    logic: bool = False
    with_sum: bool = False
    is_sum: bool = False

    @property
    def dsp(self) -> int:
        """The fewest slices of a unit."""
        return 0 if self.logic else min(dsp for dsp, _ in self.ways)

    def price(self, prices: Cost) -> int:
        """What a unit costs at least."""
        return min(dsp * prices[0] + lut * prices[1] for dsp, lut in self.ways)


def in_slices(operations: Mapping[str, Operations], dsp: int) -> tuple[int, str]:
    """The least cycles with so many DSP slices, if LUTs are plenty, and what has to be done."""
    costs = {core: (o.times, o.dsp) for core, o in operations.items() if o.dsp}
    return _cycles(costs, dsp), _listed(costs) or "no operator that needs a slice"


def in_logic(operations: Mapping[str, Operations], dsp: int, lut: int) -> tuple[int, str]:
    """The least cycles with so many DSP slices and LUTs, and what has to be done."""
    best = 0, ""
    done = sum(o.times for o in operations.values() if o.with_sum)
    for prices in _prices(operations):
        budget = dsp * prices[0] + lut * prices[1]
        free = {
            core: (max(0, o.times - done) if o.is_sum else o.times, o.price(prices))
            for core, o in operations.items()
        }
        costs = {core: cost for core, cost in free.items() if all(cost)}
        cycles = max(_cycles(costs, budget), _with_sums(operations, prices, budget))
        if cycles > best[0]:
            slices = f"{dsp:,} DSP and " if prices[0] else ""
            best = cycles, f"{_listed(costs)} on {slices}{lut:,} LUT"
    return best


def _with_sums(operations: Mapping[str, Operations], prices: Cost, budget: int) -> int:
    """The least cycles, where each slice that does a product saves a unit of sums, and no other does.

    In `c` cycles a slice takes at most `c` sums from their units, so that it costs its price less that of a unit of the
    dearest sum. Of sums there may be fractions of units here, as a slice may take some of several kinds.
    """
    sums = {core: o.price(prices) for core, o in operations.items() if o.is_sum}
    saved = max(sums.values(), default=0)
    costs: dict[str, tuple[int, int]] = {}
    for core, o in operations.items():
        price = o.price(prices)
        costs[core] = o.times, min(price, prices[0] - saved) if o.with_sum else price
    if not saved or min(cost for _, cost in costs.values()) < 0:
        return 0  # a slice costs less than what it saves: more of them than there are products would be better still
    parts = {core: costs.pop(core) for core in sums}
    return _cycles(costs, budget, sum(times * cost for times, cost in parts.values()))


def _prices(operations: Mapping[str, Operations]) -> Iterator[Cost]:
    """Of a slice and of a LUT: LUTs alone, and each at which two ways cost the same, also with a sum that one of them does."""
    found: dict[Cost, None] = {(0, 1): None}
    sums = [way for kind in operations.values() if kind.is_sum for way in kind.ways]
    for kind in operations.values():
        pairs = list(combinations(kind.ways, 2))
        if kind.with_sum:
            pairs += [((1, 0), (a + c, b + d)) for a, b in kind.ways for c, d in sums]
        for one, other in pairs:
            slices, luts = one[0] - other[0], other[1] - one[1]
            if slices * luts > 0:
                found[abs(luts), abs(slices)] = None
    return iter(found)


def _cycles(costs: Mapping[str, tuple[int, int]], budget: int, parts: int = 0) -> int:
    """The least cycles, of operations and the cost of a unit each, and of what costs `parts` in one cycle, half in two.

    With one unit of each kind the longest sequence is the answer, even if the budget has not that.
    """
    low, high = 1, max((times for times, _ in costs.values()), default=0)
    while low < high:
        middle = (low + high) // 2
        needed = sum(ceil(times / middle) * cost for times, cost in costs.values())
        low, high = (low, middle) if needed + parts / middle <= budget else (middle + 1, high)
    return high


def _listed(costs: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(f"{times:,} {core}" for core, (times, _) in costs.items())
