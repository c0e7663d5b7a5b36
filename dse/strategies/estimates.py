"""What points are estimated at, and what the evaluations so far say about that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import exp, log

from dse.area.designs import Area, Areas
from dse.evaluators.base import Result
from dse.ranking.composed import Composed
from dse.ranking.templates import Template
from dse.space.costs.addresses import address_products
from dse.space.costs.at_once import overlapped_cycles
from dse.space.costs.cost import Cost, cost, design_units, stages
from dse.space.memory.banks import Demand, demand
from dse.space.memory.partitions import together, within
from dse.space.space import Choice, Point, Space
from dsl.programs.program import Program
from polyhedral.deadline import check_deadline
from qor_gnn.result.pareto import front

Structure = tuple[int, ...]  # the number of a variant, and the order of each nest of it
Known = tuple[bool, Structure]  # whether an estimate is by rules, and of which structure

_TRUSTED = 2.0  # evaluations that weigh as much as what is known of less similar points


@dataclass(frozen=True, slots=True)
class Figures:
    """Cycles and DSP slices, or what LUTs count as (`dse.space.space.Space.logic`); ``ruled`` where no schedule but rules
    tell the cycles of an estimate.
    """

    cycles: float
    dsp: float
    ruled: bool = field(default=False, compare=False)


def figures_of(space: Space, result: Result) -> Figures | None:
    """What an evaluation found, as estimates have it; None where it found no latency."""
    if result.latency is None:
        return None
    resources = result.resources
    logic = resources.get("lut", 0) / space.logic if space.logic else 0.0
    return Figures(result.latency, max(logic, float(resources.get("dsp", 0))))


def structure_of(point: Point) -> Structure:
    """Points of one structure differ in their factors only."""
    return (point.variant, *(choice.order for choice in point.choices))


class Estimates:
    """Estimated costs of points, each nest's priced once."""

    def __init__(self, space: Space) -> None:
        """Nothing is priced yet."""
        self.space = space
        self._stages = [stages(v.nests, space.tool, v.beside) for v in space.variants]
        self._templates: dict[object, Template] = {}
        self._composed = (
            None
            if space.tool.is_open
            else [Composed(v, space.program, space.tool, self._templates) for v in space.variants]
        )
        self._starts = [space.start.beside(variant.made) for variant in space.variants]
        self._costs: dict[tuple[int, int, Choice, frozenset[str]], Cost] = {}
        self._demands: dict[tuple[int, int, Choice], Demand] = {}
        self.areas = Areas(space)
        self._areas: dict[Point, Area] = {}
        self._figures: dict[Point, Figures] = {}  # searches ask several times

    @property
    def schedules(self) -> int:
        """Relatives that were asked for, and decisions on local arrays: what takes the time of estimates."""
        relatives = sum(len(template.known) for template in self._templates.values())
        return relatives + sum(composed.decisions for composed in self._composed or ())

    def _cost(self, variant: int, nest: int, choice: Choice, registers: frozenset[str]) -> Cost:
        of = self.space.variants[variant].nests[nest]
        key = (variant, nest, choice, registers & of.arrays)
        found = self._costs.get(key)
        if found is None:
            found = cost(of, of.orders[choice.order], choice.vector, key[3], choice.ii)
            self._costs[key] = found
        return found

    def _banks(self, point: Point) -> Demand:
        """The factors that all nests together want."""
        for n, choice in enumerate(point.choices):
            key = (point.variant, n, choice)
            if key not in self._demands:
                order = self.space.order(point, n)
                self._demands[key] = demand(order, choice.vector)
        program = self.space.variants[point.variant].program
        demands = (self._demands[point.variant, n, c] for n, c in enumerate(point.choices))
        return within(program, together(program, demands), self._starts[point.variant])

    def _registers(self, program: Program, banks: Demand) -> frozenset[str]:
        """The arrays of which every element is a bank: together nests may want more than alone."""
        return frozenset(
            name
            for name in {name for name, _ in banks}
            if all(banks.get((name, d), 1) >= n for d, n in enumerate(program.array(name).shape))
        )

    def figures(self, point: Point) -> Figures:
        """Of a design."""
        found = self._figures.get(point)
        if found is None:
            check_deadline()
            found = self._figures[point] = self._priced(point)
        return found

    def _priced(self, point: Point) -> Figures:
        number = point.variant
        banks = self._banks(point)
        registers = self._registers(self.space.variants[number].program, banks)
        composed = None
        if self._composed is not None:
            chosen = [(c.order, c.vector, c.ii) for c in point.choices]
            composed = self._composed[number].figures(chosen, banks)
            if composed is not None and not self.space.logic:
                return Figures(*composed)
        costs = [self._cost(number, n, c, registers) for n, c in enumerate(point.choices)]
        groups = self._stages[number]
        each_nest = [c.cycles for c in costs]
        overlaps = self.space.variants[number].overlaps
        cycles = composed[0] if composed else overlapped_cycles(groups, each_nest, overlaps)
        dsp = design_units(groups, [c.units for c in costs])
        policy = self.space.tool.indices
        if policy.row_dsp:
            dsp += sum(
                address_products(
                    self.space.order(point, n), choice.vector, banks, registers, policy
                )
                for n, choice in enumerate(point.choices)
            )
        return Figures(cycles, dsp, ruled=composed is None)

    def area(self, point: Point) -> Area:
        """LUTs and block RAM of a design, by the intervals of its schedules where there are some."""
        found = self._areas.get(point)
        if found is None:
            self.figures(point)  # asks for its schedules
            found = self._areas[point] = self._area(point)
        return found

    def _area(self, point: Point) -> Area:
        number, banks = point.variant, self._banks(point)
        registers = self._registers(self.space.variants[number].program, banks)
        composed = None if self._composed is None else self._composed[number]
        chosen = [(c.order, c.vector, c.ii) for c in point.choices]
        rates = [()] * len(chosen) if composed is None else composed.rates(chosen, banks)
        nests = []
        for n, choice in enumerate(point.choices):
            known = self._cost(number, n, choice, registers)
            nests.append(self.areas.nest(number, n, choice, known, banks, rates[n]))
        return self.areas.design(number, nests, banks)


@dataclass(slots=True)
class Errors:
    """Logarithms of how much more was found of one quantity than was estimated: of all points, of a variant's, of
    a structure's, the less similar ones as a prior of the more similar ones. Estimates by rules and by schedules err
    apart.
    """

    totals: dict[Known, tuple[float, int]] = field(default_factory=dict)

    def add(self, structure: Structure, error: float, *, ruled: bool = False) -> None:
        """Take a point of a structure into account."""
        for key in keys_of(structure, ruled):
            total, count = self.totals.get(key, (0.0, 0))
            self.totals[key] = total + error, count + 1

    def factor(self, structure: Structure, *, ruled: bool = False) -> float:
        """What estimates of the structure are to be multiplied by."""
        known = 0.0
        for key in keys_of(structure, ruled):
            if key in self.totals:
                total, count = self.totals[key]
                known = (total + _TRUSTED * known) / (count + _TRUSTED)
        return exp(known)


@dataclass(slots=True)
class Correction:
    """By how much estimates are off, learnt from evaluations."""

    cycles: Errors = field(default_factory=Errors)
    dsp: Errors = field(default_factory=Errors)

    def learn(self, point: Point, estimated: Figures, found: Figures) -> None:
        """Take an evaluation into account."""
        if found.cycles <= 0 or estimated.cycles <= 0:
            return
        structure = structure_of(point)
        ruled = estimated.ruled
        self.cycles.add(structure, log(found.cycles / estimated.cycles), ruled=ruled)
        self.dsp.add(structure, log((found.dsp + 1) / (estimated.dsp + 1)), ruled=ruled)

    def factors(self, structure: Structure, *, ruled: bool) -> tuple[float, float]:
        """What estimates of cycles, and of DSP + 1, are to be multiplied by."""
        return self.cycles.factor(structure, ruled=ruled), self.dsp.factor(structure, ruled=ruled)

    def corrected(self, structure: Structure, estimated: Figures) -> Figures:
        """The figures to be expected."""
        cycles, dsp = self.factors(structure, ruled=estimated.ruled)
        return Figures(estimated.cycles * cycles, (estimated.dsp + 1) * dsp - 1, estimated.ruled)


def keys_of(structure: Structure, ruled: bool) -> tuple[Known, ...]:
    """Of all points, of the variant's, of the structure's: the more similar, the later."""
    return ((ruled, ()), (ruled, structure[:1]), (ruled, structure))


def front_of(found: Iterable[Figures]) -> list[Figures]:
    """Those that no other is at least as good as in both, the fastest first."""
    return front(found, lambda f: (f.cycles, f.dsp))
