"""POM's two stages (Zhang et al., HPCA 2024) over the space: dependences first, then parallelism.

Stage 1 splits, interchanges and, where that is not enough, skews, until the innermost loop of each
nest carries no dependence: it can then start an iteration every cycle. Stage 2 spends the budget:
the nest that takes the longest gets twice the copies, again and again, until the budget or the
banks are spent or nothing gets faster. Unlike POM's, its factors need not be powers of two nor
divide the extents, and every step taken was tried for legality when the space was built.
"""

from __future__ import annotations

from dse.bounds.bounds import MAX_BANKS
from dse.evaluators.base import Limits
from dse.space.costs.cost import Cost, Shared, Units, added, cost, design_cycles, stages
from dse.space.memory.banks import Demand, demand
from dse.space.memory.partitions import partitions, together, within
from dse.space.nests.nest import Nest
from dse.space.space import Choice, Point, Space
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import FabricBudget, FabricPlan, fabric_budget
from dse.strategies.ladder import Rung, ladder
from dse.strategies.search import Search
from dse.strategies.spend import Spend

_CANDIDATES = 40  # of a step of stage 2, by estimated cycles, that are checked for their banks
_SHARED = 0.15  # about what a dimension costs whose nests ask for different factors
_BANKS = 0.3  # about what the most banks that an array may have cost
_TIGHT = 0.2  # share of a limit that estimates may be off by
_EXCESS = 0.1  # by what share a design may be estimated to take too many LUTs
_RETRIES = 6  # of stage 2 with less to spend where the evaluator finds more DSP than estimated


def pom(space: Space, budget: int, limits: Limits, fabric: FabricBudget | None = None) -> Search:
    """The design of stage 1, then those of stage 2; the last feasible one is the strategy's answer.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        limits: on all resources.
        fabric: LUTs and block RAM that a design may use, and what is known of them; it learns.
    """
    fabric = fabric or fabric_budget(Estimates(space), limits)
    start = roomy(space, budget, fabric)
    (result,) = yield (start,)
    fabric.learn(start, result)
    spend = Spend(budget, fabric)
    allowed = _EXCESS  # until a design tells how the estimates of this structure err
    for _ in range(_RETRIES):
        point = stage2(space, start, spend.dsp, spend.plan(start.variant))
        if not fabric.free and (over := fabric.excess(point)) > allowed:
            spend.tightened(over, point)
            continue
        (result,) = yield (point,)
        fabric.learn(point, result)
        allowed = 0.0
        if not result.evaluated or not spend.reduced(point, result, limits):
            return


# ----------------------------------------------------------------------------------------- stage 1


def roomy(space: Space, budget: int, fabric: FabricBudget) -> Point:
    """The first design of stage 1 that leaves room for copies; the first one of all where none does. Loops that are
    unrolled inside of a pipeline may take all there is.
    """
    starts = stage1(space)
    fits = (point for point in starts if fabric.share(point, budget) <= 1 - _TIGHT)
    return next(fits, starts[0])


def stage1(space: Space) -> list[Point]:
    """The variants, each nest in its best order: those with the most nests whose innermost loop is free come first."""
    found: list[tuple[int, int, Point]] = []
    for number, variant in enumerate(space.variants):
        orders = [_freest(nest) for nest in variant.nests]
        stuck = sum(_stuck(n, k) for n, k in zip(variant.nests, orders, strict=True))
        chosen = zip(variant.nests, orders, strict=True)
        point = Point(number, tuple(Choice(k, nest.orders[k].plain) for nest, k in chosen))
        found.append((stuck, number, point))
    return [point for _, _, point in sorted(found, key=lambda one: one[:2])]


def _stuck(nest: Nest, order: int) -> bool:
    """Whether the nest has loops and the innermost carries something."""
    chosen = nest.orders[order]
    return bool(chosen.loops) and chosen.free == 0


def _freest(nest: Nest) -> int:
    """The order with the fewest estimated cycles before any unrolling; the more free loops then."""

    def key(number: int) -> tuple[float, int, int]:
        order = nest.orders[number]
        return (cost(nest, order, order.plain).cycles, -order.free, number)

    return min(range(len(nest.orders)), key=key)


# ----------------------------------------------------------------------------------------- stage 2


def stage2(space: Space, start: Point, budget: int, fabric: FabricPlan | None = None) -> Point:
    """Parallelism to the bottleneck until the budget of DSP, or of LUTs, is spent."""
    climb = _Climb(space, start, budget, fabric)
    active = set(range(len(climb.nests)))
    while active:
        bottleneck = max(active, key=lambda n: (climb.costs[n].cycles, -n))
        if not climb.step(bottleneck):
            active.discard(bottleneck)
    return Point(start.variant, tuple(climb.choices))


class _Climb:
    """The nests on their way up."""

    def __init__(self, space: Space, start: Point, budget: int, fabric: FabricPlan | None) -> None:
        self.variant, self.fabric = start.variant, fabric
        self.program = space.variants[start.variant].program
        self.budget = budget
        self.nests = space.variants[start.variant].nests
        self.stages = stages(self.nests, space.tool, space.variants[start.variant].beside)
        self.choices = list(start.choices)
        orders = [nest.orders[c.order] for nest, c in zip(self.nests, start.choices, strict=True)]
        self.orders = orders
        self.costs: list[Cost] = [
            cost(nest, order, choice.vector)
            for nest, order, choice in zip(self.nests, orders, start.choices, strict=True)
        ]
        self.ladders = [
            [rung for rung in ladder(nest, choice.order, budget) if not rung.fills]
            for nest, choice in zip(self.nests, start.choices, strict=True)
        ]
        self.demands = [self._demand(n, choice) for n, choice in enumerate(start.choices)]

    @property
    def cycles(self) -> float:
        """About what the design takes."""
        return design_cycles(self.stages, [c.cycles for c in self.costs])

    def _demand(self, nest: int, choice: Choice) -> Demand:
        return demand(self.orders[nest], choice.vector)

    def step(self, nest: int) -> bool:
        """At most twice the copies for one nest; false where nothing is faster."""
        now, others = self.costs[nest], _Others(self, nest)
        faster = [
            rung
            for rung in self.ladders[nest]
            if rung.cost.cycles < 0.99 * now.cycles and rung.cost.copies <= 2 * now.copies + 1
        ]
        best: tuple[float, float, Rung] | None = None
        checked = 0.0
        for rung in faster:
            if others.dsp_with(rung.cost.units) > self.budget:
                continue
            checked += 1
            if checked > _CANDIDATES:
                break
            tried = self._demand(nest, rung.choice)
            score = others.score(tried, rung)
            if score is not None and self._too_large(nest, rung, tried, others):
                checked -= 0.75  # there may be many of them
                continue
            if score is not None and (best is None or (score, rung.cost.dsp) < best[:2]):
                best = (score, rung.cost.dsp, rung)
        if best is None or best[0] >= now.cycles:
            return False
        rung = best[2]
        self.choices[nest] = rung.choice
        self.costs[nest] = rung.cost
        self.demands[nest] = self._demand(nest, self.choices[nest])
        return True

    def _too_large(self, nest: int, rung: Rung, tried: Demand, others: _Others) -> bool:
        """Whether the design takes more LUTs or block RAM than there are to plan with."""
        if self.fabric is None:
            return False
        wanted = together(self.program, [tried, others.demand])
        banks = within(self.program, wanted, self.fabric.areas.space.start)
        areas, choices, costs = self.fabric.areas, list(self.choices), list(self.costs)
        choices[nest], costs[nest] = rung.choice, rung.cost
        nests = [
            areas.nest(self.variant, n, choice, cost, banks)
            for n, (choice, cost) in enumerate(zip(choices, costs, strict=True))
        ]
        return self.fabric.excess(areas.design(self.variant, nests, banks)) > 0


class _Others:
    """All nests but one, as they are now: what a choice for that one comes to with them."""

    def __init__(self, climb: _Climb, nest: int) -> None:
        self.program = climb.program
        units = [c.units for c in climb.costs]
        mine = next(group for group in climb.stages if nest in group)
        self.stage = added(units[n] for n in mine if n != nest)
        stages = (added(units[n] for n in group) for group in climb.stages if group is not mine)
        self.shared = Shared(stages)
        demands = [d for n, d in enumerate(climb.demands) if n != nest]
        self.demand = together(self.program, demands)
        self.factors: dict[tuple[str, int], set[int]] = {}
        for one in demands:
            for key, factor in one.items():
                self.factors.setdefault(key, set()).add(factor)

    def dsp_with(self, units: Units) -> float:
        """DSP slices of the design where the nest has these units."""
        return self.shared.dsp_with(added((self.stage, units)))

    def score(self, tried: Demand, rung: Rung) -> float | None:
        """Its cycles, more for what its banks cost; None where they do not go with the others'."""
        wanted = together(self.program, [tried, self.demand])
        if partitions(self.program, wanted) is None:
            return None
        shared = sum(
            tried.get(key, factor) != factor or bool(self.factors.get(key, set()) - {factor})
            for key, factor in wanted.items()
        )
        banks: dict[str, int] = {}
        for (array, _), factor in wanted.items():
            banks[array] = banks.get(array, 1) * factor
        most = max(banks.values(), default=1)
        return rung.cost.cycles * (1 + _SHARED * shared + _BANKS * most / MAX_BANKS)
