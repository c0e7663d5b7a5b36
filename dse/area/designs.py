"""LUTs and block RAM of designs, from those of their nests: units, and ports of banks, that several of them use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dse.area.memories import Memories
from dse.area.nests import Module, NestArea, OrderAreas, Rates
from dse.space.costs.cost import Cost, stages
from dse.space.memory.banks import Demand
from dse.space.memory.partitions import within
from dse.space.nests.nest import Nest
from dse.space.space import Choice, Space
from qor_gnn.area.multiplexers import multiplexer
from qor_gnn.area.resources import coefficients
from qor_gnn.area.sharing import shared_port, shared_units

_STATES = 4  # about those that a body has in the state machine of its function


@dataclass(frozen=True, slots=True)
class Area:
    """About the LUTs and the BRAM18 of a design."""

    lut: float = 0.0
    bram18: float = 0.0


class Own(NamedTuple):
    """LUTs of a nest: those that it does not share, and those of the units that it needs, which others may use, too."""

    lut: float
    units: float = 0.0


NOTHING = Own(0.0)


@dataclass(frozen=True, slots=True)
class Part:
    """Some nests of a design.

    Attributes:
        area: of all of them, with their arrays.
        banks: of all arrays, by dimension.
        memories: of the arrays alone.
        nests: what each takes, by its number.
    """

    area: Area
    banks: Demand
    memories: Area
    nests: Mapping[int, NestArea]


class Areas:
    """Of the designs of a space, without a schedule: LUTs by the tool's operators and the terms of `qor_gnn.area`.

    On random designs of the corpus' kernels they are within 8 to 11% of the exact model in the median, its block RAM
    is exact where no array is read from copies (`qor_gnn.memory.many_readers`).
    """

    def __init__(self, space: Space) -> None:
        """Nothing is known yet."""
        known = coefficients(space.tool.name)
        self.each: Mapping[str, float] | None = None if known is None else known.lut
        self.space = space
        self._stages = [stages(variant.nests, space.tool) for variant in space.variants]
        # Several variants have the same nests: these are known by one number.
        self._places: dict[tuple[int, int], tuple[int, tuple[tuple[str, int], ...]]] = {}
        self._distinct: dict[Nest, int] = {}
        self._orders: dict[tuple[int, int], OrderAreas] = {}
        self._nests: dict[object, NestArea] = {}
        self._alone: dict[tuple[int, Choice], Own] = {}
        self._some: dict[object, Part] = {}
        self._memories: dict[int, Memories] = {}
        self._cores: dict[int, dict[str, int]] = {}

    def nest(
        self, variant: int, n: int, choice: Choice, cost: Cost, banks: Demand, rates: Rates = ()
    ) -> NestArea:
        """What a nest takes.

        Args:
            variant: its number.
            n: number of the nest.
            choice: of the nest.
            cost: of the choice.
            banks: of all arrays, by dimension.
            rates: as in `dse.area.nests.OrderAreas.area`.
        """
        if self.each is None:
            return NestArea(0.0, ())
        number, dims = self._placed(variant, n)
        own = tuple([banks.get(one, 1) for one in dims])
        key = (number, choice, cost.interval, own, tuple(rates))
        found = self._nests.get(key)
        if found is None:
            found = self._order(variant, n, choice.order).area(
                choice.vector, cost, dict(zip(dims, own, strict=True)), rates
            )
            self._nests[key] = found
        return found

    def _placed(self, variant: int, n: int) -> tuple[int, tuple[tuple[str, int], ...]]:
        """The number of a nest, equal for nests that are the same, and the dimensions of its arrays."""
        found = self._places.get((variant, n))
        if found is None:
            nest = self.space.variants[variant].nests[n]
            number = self._distinct.setdefault(nest, len(self._distinct))
            each = ((use.array, d) for use in nest.orders[0].uses for d in range(len(use.shape)))
            found = self._places[variant, n] = number, tuple(dict.fromkeys(each))
        return found

    def _order(self, variant: int, n: int, number: int) -> OrderAreas:
        key = (self._placed(variant, n)[0], number)
        if key not in self._orders:
            assert self.each is not None
            nest = self.space.variants[variant].nests[n]
            self._orders[key] = OrderAreas(nest, nest.orders[number], self.space.tool, self.each)
        return self._orders[key]

    def design(self, variant: int, nests: Sequence[NestArea], banks: Demand) -> Area:
        """What a design takes.

        Args:
            variant: its number.
            nests: all of them.
            banks: of all arrays, by dimension.
        """
        if self.each is None:
            return Area()
        memories = self.memories(variant).cost(banks)
        units = self._stage_units(variant, nests)
        return Area(memories.lut + self._lut(variant, nests, units), memories.bram18)

    def some(
        self,
        variant: int,
        chosen: Sequence[tuple[int, Choice, Cost]],
        wanted: Demand,
        before: Part | None = None,
    ) -> Part:
        """What a design takes of which some nests are chosen. Budgets ask for the same ones again and again.

        Args:
            variant: its number.
            chosen: nests by number, their choices and the costs of these.
            wanted: factors that these ask for together, by array and dimension.
            before: fewer of the same nests that ask for the same.
        """
        each = tuple([(n, choice, cost.interval) for n, choice, cost in chosen])
        key = (variant, each, frozenset(wanted.items()))
        found = self._some.get(key)
        if found is None:
            found = self._some[key] = self._part(variant, chosen, wanted, before)
        return found

    def _part(
        self,
        variant: int,
        chosen: Sequence[tuple[int, Choice, Cost]],
        wanted: Demand,
        before: Part | None,
    ) -> Part:
        known: Mapping[int, NestArea] = {}
        if before is None:
            banks, memories = self._banked(variant, wanted)
        else:
            banks, memories, known = before.banks, before.memories, before.nests
        nests = {
            n: known[n] if n in known else self.nest(variant, n, choice, cost, banks)
            for n, choice, cost in chosen
        }
        taken = list(nests.values())
        lut = self._lut(variant, taken, _most_units(taken))
        return Part(Area(memories.lut + lut, memories.bram18), banks, memories, nests)

    def _banked(self, variant: int, wanted: Demand) -> tuple[Demand, Area]:
        """The banks of all arrays, and what these take, where nests ask for such factors."""
        banks = within(self.space.variants[variant].program, wanted, self.space.start)
        found = self.memories(variant).cost(banks)
        return banks, Area(found.lut, found.bram18)

    def stored(self, variant: int, wanted: Demand) -> Area:
        """LUTs and block RAM of the arrays alone, where nests ask for such factors; 0 where nothing is known of LUTs."""
        return Area() if self.each is None else self._banked(variant, wanted)[1]

    def alone(self, variant: int, n: int, choice: Choice, cost: Cost, banks: Demand) -> Own:
        """LUTs of a nest by itself, with the banks that it asks for; arguments as `nest` has them."""
        key = (self._placed(variant, n)[0], choice)
        found = self._alone.get(key)
        if found is None:
            nest = self.nest(variant, n, choice, cost, banks)
            luts = self._luts(variant)
            units = sum(luts[core] * count for core, count in _most_units([nest]).items())
            found = self._alone[key] = Own(nest.lut, units)
        return found

    def around(self, variant: int) -> float:
        """LUTs of a design whatever its nests are: those of ports to memory outside, and of arrays in one bank each."""
        return 0.0 if self.each is None else self.each["one"] + self.memories(variant).cost({}).lut

    def _lut(self, variant: int, nests: Sequence[NestArea], units: Mapping[str, int]) -> float:
        each, modules = self.each, [module for nest in nests for module in nest.modules]
        assert each is not None
        total = each["one"] + each["fsm"] * multiplexer(2 + _STATES * len(modules))
        total += sum(nest.lut for nest in nests)
        for term, store in (("shared_reads", False), ("shared_writes", True)):
            total += each[term] * _shared_ports(modules, store=store)
        luts = self._luts(variant) if units else {}
        for core, most in units.items():
            counts = [m.units[core] for m in modules if core in m.units]
            total += luts[core] * most + each["shared_units"] * shared_units(counts)
        return total

    def memories(self, variant: int) -> Memories:
        """The arrays of a variant."""
        if variant not in self._memories:
            self._memories[variant] = Memories(self.space, variant)
        return self._memories[variant]

    def _stage_units(self, variant: int, nests: Sequence[NestArea]) -> Mapping[str, int]:
        """Units of each core: as many as the stage has that needs most."""
        total: dict[str, int] = {}
        for group in self._stages[variant]:
            stage: dict[str, int] = {}
            for n in group:
                for core, count in _most_units(nests[n : n + 1]).items():
                    stage[core] = stage.get(core, 0) + count
            for core, count in stage.items():
                total[core] = max(total.get(core, 0), count)
        return total

    def _luts(self, variant: int) -> Mapping[str, int]:
        """LUTs of a unit of each core that nests share."""
        if variant not in self._cores:
            orders = (o for nest in self.space.variants[variant].nests for o in nest.orders)
            self._cores[variant] = {f.core: f.lut for o in orders for f in o.fabric if f.shared}
        return self._cores[variant]


def _most_units(nests: Sequence[NestArea]) -> dict[str, int]:
    """Units of each core: as many as the body has that needs most."""
    most: dict[str, int] = {}
    for nest in nests:
        for module in nest.modules:
            for core, count in module.units.items():
                most[core] = max(most.get(core, 0), count)
    return most


def _shared_ports(modules: Sequence[Module], *, store: bool) -> float:
    """LUTs of ports of banks that several bodies use: of those that use fewer banks, each is another's, too."""
    users: dict[str, list[int]] = {}
    for module in modules:
        for array, banks in (module.written if store else module.read).items():
            if banks:
                users.setdefault(array, []).append(banks)
    total = 0.0
    for counts in users.values():
        if len(counts) < 2:
            continue  # nobody else's
        order = sorted(counts, reverse=True)
        for several, (n, fewer) in enumerate(zip(order, [*order[1:], 0], strict=True), start=1):
            if several > 1 and n > fewer:
                total += (n - fewer) * shared_port(store, several)
    return total
