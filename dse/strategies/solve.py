"""The best factors of a variant, solved from estimated costs instead of sampled one by one.

A beam search over the nests, the longest first: a state has chosen an order and a vector for some
nests; it is extended by every rung of the next nest whose partitions go with those chosen and whose
units fit the budget. States are ranked by the cycles chosen so far and the best that the remaining
nests could do alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from heapq import heapify, heappop, heappush
from math import inf
from operator import attrgetter

from dse.area.designs import Area, Own
from dse.bounds.bounds import MAX_BANKS
from dse.space.costs.at_once import overlapped_cycles
from dse.space.costs.cost import (
    Shared,
    Units,
    added,
    design_units,
    stages,
)
from dse.space.memory.banks import Demand
from dse.space.memory.partitions import fewer_banks
from dse.space.space import Choice, Point, Space
from dse.space.variant import Variant
from dse.strategies.fabric import FabricPlan
from dse.strategies.ladder import Rung
from dse.strategies.options import Option, Options
from dse.strategies.states import Banks, Grown, State
from dse.strategies.words import Words
from polyhedral.banks.wanted import common
from polyhedral.deadline import check_deadline

WIDTH = 24  # states that are kept
_STATES = 8  # that are spread as if there were so many, at least
_SPREAD = 2  # times as many that each state is extended to: more are much alike
_ALIKE = 2  # states that share units alike
_TIGHTER = 2  # beams more where all that one finds takes too many LUTs
_STEP = 0.01  # by what share such a beam has fewer LUTs besides what designs were over
_ROOM = 0.1  # of the LUTs, that some states leave to the nests that come later
_OVER = 4.0  # by what share a plan is worse for each share of the budget that it is over
_BANKS = 0.02  # of the cycles, about what the most banks that an array may have cost


@dataclass(frozen=True, slots=True)
class Solution:
    """A point and what it is estimated to take."""

    point: Point
    cycles: float
    dsp: float
    over: float = 0.0
    """The share by which it is estimated to take more LUTs, or block RAM, than there are to plan with."""
    lut: float = 0.0
    """LUTs that the plan counts; 0 where it counts none."""


_score = attrgetter("score")


def _delayed(score: float, over: float) -> float:
    """What a state counts as that takes too much, by a share."""
    return score * (1 + _OVER * over)


def solve(
    space: Space,
    variant: int,
    budget: int,
    orders: Sequence[int] | None = None,
    width: int = WIDTH,
    interval: int | None = None,
    fabric: FabricPlan | None = None,
) -> tuple[Solution, ...]:
    """The best points of one variant within a budget of DSP, the fastest first.

    Args:
        space: of the kernel.
        variant: its number.
        budget: DSP slices, as estimated.
        orders: the order of each nest; None to choose them too.
        width: states of the beam, and the most solutions.
        interval: the longest that copies which share units may be asked for; None for any.
        fabric: LUTs and block RAM to plan with, too; None where they are not known.
    """
    plan = partial(_beam, space, variant, budget, orders, width, interval, fabric)
    found, margin = plan(1.0), 1.0
    for _ in range(_TIGHTER):
        least = min((solution.over for solution in found), default=0.0)
        if fabric is None or least <= 0:
            break
        margin *= 1 + least + _STEP
        again = plan(margin)
        if min((solution.over for solution in again), default=least) >= least:
            break
        found = again
    return found


def _beam(
    space: Space,
    variant: int,
    budget: int,
    orders: Sequence[int] | None,
    width: int,
    interval: int | None,
    fabric: FabricPlan | None,
    margin: float,
) -> tuple[Solution, ...]:
    """The best points that a beam of so many states finds; ``margin`` are the LUTs of a design over those that are summed up
    of its nests, one after the other.
    """
    nests = space.variants[variant].nests
    solver = _Solver(space, variant, budget, orders, interval, fabric, width, margin)
    if solver.impossible:
        return ()  # what a nest unrolls anyway takes more banks than there are
    states = [State({}, Banks({}, {}), list(solver.longest), (), {})]
    for later, n in zip(reversed(range(len(nests))), solver.slowest_first, strict=True):
        check_deadline()
        grown = [new for state in states for new in solver.extended(state, n)]
        grown.sort(key=_score)
        full = width * 2 // 3 if later else width
        states = _varied(solver.fitting_first(grown, full, solver.later_lut[n]), width)
    found = []
    for state in states:
        rungs = [state.chosen[n].rung for n in range(len(nests))]
        point = Point(variant, tuple(r.choice for r in rungs))
        each = [r.cost.cycles for r in rungs]
        cycles = overlapped_cycles(solver.stages, each, solver.variant.overlaps)
        cycles += state.banks.waits
        dsp = design_units(solver.stages, [r.cost.units for r in rungs])
        lut = 0.0 if state.part is None else state.part.area.lut
        found.append(Solution(point, cycles, dsp, state.over, lut))
    return tuple(found)


def _varied(states: Iterable[State], width: int) -> list[State]:
    """The first ones, of those that share units alike a few only: their estimates are too near."""
    found: list[State] = []
    alike: Counter[tuple[Choice, ...]] = Counter()
    for state in states:
        alike[state.waiting] += 1
        if not state.waiting or alike[state.waiting] <= _ALIKE:
            found.append(state)
        if len(found) == width:
            break
    return found


@lru_cache(maxsize=512)
def _servings(_: Variant) -> dict[object, tuple[bool, object]]:
    """Which arrays of a variant can have few enough banks: budgets share it, as they do what is known of choices. With each
    answer are the choices that it is of, which the key has by their identity.
    """
    return {}


class _Solver:
    """What does not change during a search."""

    def __init__(
        self,
        space: Space,
        variant: int,
        budget: int,
        orders: Sequence[int] | None,
        interval: int | None,
        fabric: FabricPlan | None,
        width: int,
        margin: float,
    ) -> None:
        self.variant, self.number, self.fabric = space.variants[variant], variant, fabric
        self.program, nests = self.variant.program, self.variant.nests
        self.budget, self.spread = budget, _SPREAD * max(_STATES, width)
        self._servings = _servings(self.variant)
        self.stages = stages(nests, space.tool, self.variant.beside)
        lut = None if fabric is None else fabric.planned / margin - fabric.areas.around(variant)
        self.lut = lut
        self.options = [
            Options(
                self.variant,
                n,
                range(len(nest.orders)) if orders is None else orders[n : n + 1],
                budget,
                interval,
                None if lut is None else (partial(self._own, n), lut),
                WIDTH,
            )
            for n, nest in enumerate(nests)
        ]
        fastest = [options.cycles() for options in self.options]
        self.impossible = None in fastest
        if self.impossible:
            return
        self.alone = [cycles or 0.0 for cycles in fastest]
        self.least = [options.least() for options in self.options]
        self.start = space.start
        self.words = Words.of(self.program, self.start, nests, self.alone)
        self.slowest_first = sorted(range(len(nests)), key=lambda n: (-self.alone[n], n))
        self.stage = {n: k for k, group in enumerate(self.stages) for n in group}
        self.longest = [max(self.alone[n] for n in group) for group in self.stages]
        self.untouched = self._untouched()
        self.later_lut = self._later_lut()

    def _untouched(self) -> dict[int, Units]:
        """When it is a nest's turn: the least that the stages share of which no nest had its."""
        found: dict[int, Units] = {}
        first = {self.stage[n]: n for n in reversed(self.slowest_first)}
        later = Shared(())
        for n in reversed(self.slowest_first):
            found[n] = later.units()
            if first[self.stage[n]] == n:
                later = Shared((found[n], self._least(self.stage[n])))
        return found

    def _least(self, stage: int) -> Units:
        return added(self.least[n] for n in self.stages[stage])

    def extended(self, state: State, nest: int) -> list[Grown]:
        """The state with each fitting option of one nest more."""
        found: list[Grown] = []
        stage = self.stage[nest]
        present = state.open.get(stage) or self._least(stage)
        others = (units for other, units in state.open.items() if other != stage)
        shared = Shared((state.closed, self.untouched[nest], *others))
        beside = shared.besides(present, self.least[nest])
        most = inf if self.lut is None else self.lut - self.later_lut[nest]
        late = 0  # options that are too large, of which some go along
        total, slowest = sum(state.longest), state.longest[stage]
        for option in self.options[nest]:
            own = Own(state.own.lut + option.own.lut, max(state.own.units, option.own.units))
            too_large = own.lut + own.units > most
            if too_large and late >= WIDTH:
                continue
            cost = option.rung.cost
            if beside.dsp_with(cost.units) > self.budget:
                continue
            banks = self._joined(state, option)
            if banks is None or (option.rung.fills and banks is not state.banks):
                continue
            late += too_large
            longest, cycles = state.longest, total
            if cost.cycles > slowest:
                longest = [*longest[:stage], cost.cycles, *longest[stage + 1 :]]
                cycles = sum(longest)
            score = (cycles + banks.waits) * (1 + banks.dear)
            found.append(Grown(state, nest, option, beside, banks, longest, score, own))
            if len(found) - late >= self.spread:
                break
        return found

    def state(self, grown: Grown) -> State:
        """A state with one nest more."""
        before, nest, option = grown.before, grown.nest, grown.option
        stage = self.stage[nest]
        units = grown.beside.units(option.rung.cost.units)
        closed = before.closed
        open_ = {k: u for k, u in before.open.items() if k != stage}
        if all(n == nest or n in before.chosen for n in self.stages[stage]):
            closed = Shared((closed, units)).units()
        else:
            open_[stage] = units
        waiting = before.waiting
        if option.rung.asked > 1:
            waiting = (*waiting, option.rung.choice)
        return State(
            {**before.chosen, nest: option},
            grown.banks,
            grown.longest,
            closed,
            open_,
            waiting,
            grown.score,
            own=grown.own,
            part=before.part if grown.banks is before.banks else None,
        )

    def _own(self, nest: int, rung: Rung, banks: Demand) -> Own:
        """LUTs by itself and with its own banks."""
        assert self.fabric is not None
        return self.fabric.areas.alone(self.number, nest, rung.choice, rung.cost, banks)

    def _later_lut(self) -> dict[int, float]:
        """When it is a nest's turn: the least LUTs of those that have theirs later."""
        found, later = {}, 0.0
        for n in reversed(self.slowest_first):
            found[n] = later
            later += self.options[n].least_lut()
        return found

    def fitting_first(self, grown: Iterable[Grown], full: int, later: float) -> Iterator[State]:
        """States in their order, those behind all others that are estimated to take too much, with at least ``later`` LUTs
        of the nests that are left: estimates err. Before them come those that leave no room, but for so many that may be
        ``full``. Of thousands a few dozen are looked at, so states are made, and what they take is found, as late as
        the order allows.
        """
        if self.fabric is None:
            yield from map(self.state, grown)
            return
        late: list[tuple[float, int, Grown | State]] = []
        tight: list[State] = []
        for number, one in enumerate(grown):
            least = self._least_excess(one, self.fabric, later)
            if least > 0:
                late.append((_delayed(one.score, least), number, one))
                continue
            state = self.state(one)
            over = self._excess(state, self.fabric, later)
            if over > 0:
                late.append((_delayed(state.score, over), number, state))
            elif over > -_ROOM and full <= 0:
                tight.append(state)
            else:
                full -= over > -_ROOM
                yield state
        yield from tight
        heapify(late)
        while late:
            _, number, next_ = heappop(late)
            if isinstance(next_, State):
                yield next_
            else:
                state = self.state(next_)
                over = self._excess(state, self.fabric, later)
                heappush(late, (_delayed(state.score, over), number, state))

    def _least_excess(self, grown: Grown, fabric: FabricPlan, later: float) -> float:
        """At least about the share by which a state is over: with the banks of all a nest takes no less than with its own, nor
        do those that were chosen before with a nest more.
        """
        banks, before = grown.banks, grown.before.part
        if banks.memories is None:
            banks.memories = fabric.areas.stored(self.number, banks.wanted)
        own = grown.own.lut + grown.own.units
        if before is not None:
            own = max(own, before.area.lut - before.memories.lut + grown.option.own.lut)
        lut = banks.memories.lut + own + later
        return fabric.excess_planned(Area(lut, banks.memories.bram18))

    def _excess(self, state: State, fabric: FabricPlan, later: float) -> float:
        """The share by which a state is over what there is to plan with; below 0 where it is not."""
        chosen = [
            (n, option.rung.choice, option.rung.cost) for n, option in sorted(state.chosen.items())
        ]
        state.part = fabric.areas.some(self.number, chosen, state.banks.wanted, state.part)
        area = state.part.area
        state.over = max(0.0, over := fabric.excess_planned(Area(area.lut + later, area.bram18)))
        return over

    def _joined(self, state: State, option: Option) -> Banks | None:
        """The factors with those of an option, None where an array takes too many banks for it, however it is split."""
        before = state.banks
        joined, each = before.wanted, before.each
        for key, factor, extent in option.alone.factors:
            had = before.wanted.get(key, 1)
            if had % factor == 0:
                continue
            now = common(had, factor, extent)
            if now > extent:
                return None
            if joined is before.wanted:
                joined, each = dict(joined), dict(each)
            joined[key] = now
            each[key[0]] = each.get(key[0], 1) // had * now
        most = before.most if joined is before.wanted else max(each.values())
        if most > MAX_BANKS and any(each.get(a, 1) > MAX_BANKS for a in option.alone.arrays):
            over = [array for array, banks in each.items() if banks > MAX_BANKS]
            if not all(self._served(array, joined, state, option) for array in over):
                return None
        if joined is before.wanted:
            return before
        dear = _BANKS * min(1.0, most / MAX_BANKS)
        return Banks(joined, each, most, self.words.waiting(joined), dear)

    def _served(self, array: str, wanted: Demand, state: State, option: Option) -> bool:
        """Whether an array can have few enough banks without that a nest gets slower by it, those that are chosen and one
        more. Most states of a beam ask the same.
        """
        rank = len(self.program.array(array).shape)
        factors = tuple([wanted.get((array, d), 1) for d in range(rank)])
        waiting = state.waiting_for(array)
        if array in option.alone.touched:
            waiting = (*waiting, (option.alone, option.most))
        asked = option.rung.asked > 1 or any(o.rung.asked > 1 for o in state.chosen.values())
        key = (array, factors, asked, tuple([(id(alone), most) for alone, most in waiting]))
        found = self._servings.get(key)
        if found is None:
            served = any(
                all(alone.interval(array, fewer) <= most for alone, most in waiting)
                for fewer in fewer_banks(factors, divided=asked)
            )
            found = self._servings[key] = served, waiting
        return found[0]
