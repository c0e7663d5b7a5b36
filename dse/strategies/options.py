"""What there is to choose for a nest of a variant: its rungs, the fastest first, looked at as far as the beam asks.

A ladder has hundreds of rungs for each order, of which a beam takes the first few dozen. Whether memories can serve a
rung, and what it takes of LUTs, is found only for those that it comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import lru_cache
from heapq import merge
from operator import attrgetter

from dse.area.designs import NOTHING, Own
from dse.space.costs.cost import Units
from dse.space.memory.banks import Demand, demand, interval_with, port_interval
from dse.space.memory.partitions import solved
from dse.space.nests.nest import Nest, Order, Vector
from dse.space.space import Choice
from dse.space.variant import Variant
from dse.strategies.ladder import Rung, ladder
from dsl.programs.program import Program

_RUNGS = 250  # of a nest, the fastest ones of each order and those of fewer copies


@dataclass(slots=True)
class Alone:
    """What a choice asks of the memories, and what is known of it where it is the only one.

    Attributes:
        demand: factors that it asks for.
        program: of the variant.
        possible: whether it can have its banks; None where nobody asked.
        factors: of each dimension that is to be partitioned the factor, and the elements.
        arrays: those that it asks banks of.
    """

    order: Order
    vector: Vector
    demand: Demand
    program: InitVar[Program]
    possible: bool | None = None
    key: frozenset[tuple[tuple[str, int], int]] = field(init=False)
    factors: tuple[tuple[tuple[str, int], int, int], ...] = field(init=False)
    arrays: tuple[str, ...] = field(init=False)
    touched: frozenset[str] = field(init=False)
    """Arrays that wait for their ports: none, where words are copied."""
    _ports: int | None = None
    _intervals: dict[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)

    def __post_init__(self, program: Program) -> None:
        self.key = frozenset(self.demand.items())
        self.factors = tuple(
            (key, factor, program.array(key[0]).shape[key[1]])
            for key, factor in self.demand.items()
        )
        self.arrays = tuple(dict.fromkeys(array for array, _ in self.demand))
        uses = () if self.order.words else self.order.uses
        self.touched = frozenset(use.array for use in uses)

    @property
    def ports(self) -> int:
        """The interval that the ports of memories allow."""
        if self._ports is None:
            self._ports = port_interval(self.order, self.vector)
        return self._ports

    def interval(self, array: str, factors: Mapping[int, int]) -> int:
        """The interval that the ports of an array allow, in so many banks."""
        key = (array, tuple(factors.values()))
        found = self._intervals.get(key)
        if found is None:
            found = interval_with(self.order, self.vector, array, factors)
            self._intervals[key] = found
        return found


@dataclass(frozen=True, slots=True)
class Option:
    """A rung of a nest, and its LUTs; 0 where they are not planned with."""

    rung: Rung
    alone: Alone
    own: Own

    @property
    def most(self) -> int:
        """The interval that it has anyway: as it is asked, and as ports allow it."""
        return max(self.rung.asked, self.alone.ports)


@lru_cache(maxsize=512)
def _known(_: Variant, __: Nest) -> dict[Choice, Alone]:
    """What is known of the choices of a variant's nest: budgets share it."""
    return {}


_cost = attrgetter("cost.dsp", "cost.copies")
_key = attrgetter("key")


class Options:
    """The choices of a nest within a budget of DSP, found one after the other."""

    def __init__(
        self,
        variant: Variant,
        n: int,
        orders: Sequence[int],
        budget: int,
        interval: int | None,
        lut: tuple[Callable[[Rung, Demand], Own], float] | None,
        some: int,
    ) -> None:
        """Nothing is looked at yet.

        Args:
            variant: of the program.
            n: number of the nest.
            orders: the numbers of the orders to choose from.
            budget: DSP slices.
            interval: the longest that copies which share units may be asked for; None for any.
            lut: LUTs of a rung with the banks that it asks for, and those that there are to plan with; None where
                they are not planned with.
            some: rungs that take more LUTs by themselves which are taken along: estimates err.
        """
        self._nest, self._program = variant.nests[n], variant.program
        self._known = _known(variant, self._nest)
        self._lut, self._some = lut, some
        ladders = [ladder(self._nest, number, budget) for number in orders]
        if interval is not None:
            ladders = [tuple(r for r in one if r.asked <= interval) for one in ladders]
        # Each is sorted, and has hundreds of which a beam takes the first few dozen: they are merged as far as that.
        self._ladders = ladders
        self._found: list[Option] = []
        self._more = self._options()

    def __iter__(self) -> Iterator[Option]:
        """The fastest first."""
        yield from self._found
        for option in self._more:
            self._found.append(option)
            yield option

    def least(self) -> Units:
        """Units of the cheapest; none where nothing is possible."""
        cheapest = self._cheapest(self._ladders)
        if cheapest is not None and not self._possible(cheapest):
            cheapest = self._cheapest([tuple(filter(self._possible, one)) for one in self._ladders])
        return () if cheapest is None else cheapest.cost.units

    def _cheapest(self, ladders: Sequence[Sequence[Rung]]) -> Rung | None:
        """Of those that cost as much the fastest."""
        first = [min(one, key=_cost) for one in ladders if one]
        return min(first, key=lambda rung: (_cost(rung), rung.key), default=None)

    def cycles(self) -> float | None:
        """Of the fastest; None where nothing is possible."""
        first = next(iter(self), None)
        return None if first is None else first.rung.cost.cycles

    def least_lut(self) -> float:
        """LUTs of the slowest."""
        slowest = merge(*map(reversed, self._ladders), key=_key, reverse=True)
        last = next(filter(self._possible, slowest), None)
        return 0.0 if last is None else self._own(last).lut

    def _options(self) -> Iterator[Option]:
        seen: set[tuple[float, frozenset[tuple[tuple[str, int], int]]]] = set()
        for rung, own in self._selected():
            alone = self._alone(rung)
            key = (rung.cost.cycles, alone.key)
            if key not in seen and self._possible(rung):
                seen.add(key)
                yield Option(rung, alone, own)

    def _selected(self) -> Iterator[tuple[Rung, Own]]:
        """The fastest of each order, and of each smaller number of copies the fastest: others may need the units. Of
        those that take more LUTs by themselves than there are a few only.
        """
        late: dict[int, int] = {}
        fits: dict[int, int] = {}
        copies: set[tuple[int, int]] = set()
        for rung in merge(*self._ladders, key=_key):
            order = rung.order
            if fits.get(order, 0) >= _RUNGS and (order, rung.cost.copies) in copies:
                continue
            own = self._own(rung)
            if self._lut is not None and own.lut + own.units > self._lut[1]:
                late[order] = late.get(order, 0) + 1
                if late[order] <= self._some:
                    yield rung, own
                continue
            if fits.get(order, 0) >= _RUNGS:
                copies.add((order, rung.cost.copies))
            fits[order] = fits.get(order, 0) + 1
            yield rung, own

    def _possible(self, rung: Rung) -> bool:
        """Whether it can have its banks."""
        alone = self._alone(rung)
        if alone.possible is None:
            banks = solved(self._program, [(alone.order, alone.vector)], [rung.asked])
            alone.possible = banks is not None
        return alone.possible

    def _alone(self, rung: Rung) -> Alone:
        """What a rung of a nest asks of the memories."""
        found = self._known.get(rung.choice)
        if found is None:
            order = self._nest.orders[rung.order]
            found = Alone(order, rung.vector, demand(order, rung.vector), self._program)
            self._known[rung.choice] = found
        return found

    def _own(self, rung: Rung) -> Own:
        return NOTHING if self._lut is None else self._lut[0](rung, self._alone(rung).demand)
