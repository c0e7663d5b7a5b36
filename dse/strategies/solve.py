"""The best factors of a variant, solved from estimated costs instead of sampled one by one.

A beam search over the nests, the longest first: a state has chosen an order and a vector for some
nests; it is extended by every rung of the next nest whose partitions go with those chosen and whose
units fit the budget. States are ranked by the cycles chosen so far and the best that the remaining
nests could do alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import lru_cache
from math import prod

from dse.bounds.bounds import MAX_BANKS
from dse.space.at_once import overlapped_cycles
from dse.space.banks import Demand, demand, port_interval
from dse.space.cost import (
    Shared,
    Units,
    added,
    design_units,
    replaced,
    stages,
)
from dse.space.nest import Nest, Order, Vector
from dse.space.partitions import possible, relaxed, solved, within
from dse.space.space import Choice, Point, Space
from dse.space.variants import Variant
from dse.strategies.fabric import FabricPlan
from dse.strategies.ladder import Rung, ladder
from dse.strategies.words import Words
from dsl.programs.program import Program
from polyhedral.banks.wanted import common

WIDTH = 24  # states that are kept
_ALIKE = 2  # states that share units alike
_RUNGS = 250  # of a nest, the fastest ones of each order and those of fewer copies
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


@dataclass(frozen=True, slots=True)
class _Option:
    rung: Rung
    alone: _Alone
    part: tuple[Order, Vector]

    @property
    def ports(self) -> int:
        """The interval that the ports of memories allow."""
        if self.alone.ports is None:
            self.alone.ports = port_interval(*self.part)
        return self.alone.ports


@dataclass(frozen=True, slots=True)
class _State:
    """Some nests chosen.

    ``longest`` are the cycles of the stages with the best of what is not chosen. ``closed`` are the
    units that the stages share of which all nests are chosen, ``open`` those of each stage of which
    some are, with the least that the others need. ``waiting`` are the choices whose copies share
    units.
    """

    chosen: dict[int, _Option]
    wanted: Demand
    longest: list[float]
    closed: Units
    open: dict[int, Units]
    waiting: tuple[Choice, ...] = ()
    score: float = 0.0
    over: float = 0.0
    lut: float = 0.0


@dataclass(slots=True)
class _Alone:
    """What a choice asks of the memories, whether it can have it where it is the only one, and the interval that
    ports allow then.
    """

    demand: Demand
    program: InitVar[Program]
    possible: bool | None = None
    ports: int | None = None
    key: tuple[tuple[tuple[str, int], int], ...] = field(init=False)
    factors: tuple[tuple[tuple[str, int], int, int], ...] = field(init=False)
    """Of each dimension the factor, and the elements."""
    arrays: tuple[str, ...] = field(init=False)

    def __post_init__(self, program: Program) -> None:
        self.key = tuple(sorted(self.demand.items()))
        self.factors = tuple(
            (key, factor, program.array(key[0]).shape[key[1]])
            for key, factor in self.demand.items()
        )
        self.arrays = tuple(dict.fromkeys(array for array, _ in self.demand))


@lru_cache(maxsize=512)
def _alone(_: Variant, __: Nest) -> dict[Choice, _Alone]:
    """What is known of the choices of a variant's nest: budgets share it."""
    return {}


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
    nests = space.variants[variant].nests
    solver = _Solver(space, variant, budget, orders, interval, fabric)
    if not all(solver.options):
        return ()  # what a nest unrolls anyway takes more banks than there are
    states = [_State({}, {}, list(solver.longest), (), {})]
    for later, n in zip(reversed(range(len(nests))), solver.slowest_first, strict=True):
        grown = [new for state in states for new in solver.extended(state, n)]
        grown.sort(key=lambda s: s.score)
        states = _varied(solver.fitting_first(grown, width * 2 // 3 if later else width), width)
    found = []
    for state in states:
        rungs = [state.chosen[n].rung for n in range(len(nests))]
        point = Point(variant, tuple(r.choice for r in rungs))
        each = [r.cost.cycles for r in rungs]
        cycles = overlapped_cycles(solver.stages, each, solver.variant.overlaps)
        cycles += solver.words.waiting(state.wanted)
        dsp = design_units(solver.stages, [r.cost.units for r in rungs])
        found.append(Solution(point, cycles, dsp, state.over))
    return tuple(found)


def _varied(states: Iterable[_State], width: int) -> list[_State]:
    """The first ones, of those that share units alike a few only: their estimates are too near."""
    found: list[_State] = []
    alike: Counter[tuple[Choice, ...]] = Counter()
    for state in states:
        alike[state.waiting] += 1
        if not state.waiting or alike[state.waiting] <= _ALIKE:
            found.append(state)
        if len(found) == width:
            break
    return found


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
    ) -> None:
        self.variant, self.number, self.fabric = space.variants[variant], variant, fabric
        self.program, nests = self.variant.program, self.variant.nests
        self.budget, self.interval = budget, interval
        self.stages = stages(nests, space.tool, self.variant.beside)
        fixed: Sequence[int | None] = orders or [None] * len(nests)
        self.known = [_alone(self.variant, nest) for nest in nests]
        self.options = [self._options(n, k) for n, k in enumerate(fixed)]
        self.least: list[Units] = [
            min((o.rung.cost for o in options), key=lambda c: (c.dsp, c.copies)).units
            if options
            else ()
            for options in self.options
        ]
        self.alone = [
            min((o.rung.cost.cycles for o in options), default=0.0) for options in self.options
        ]
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

    def _options(self, n: int, fixed: int | None) -> list[_Option]:
        nest = self.variant.nests[n]
        rungs: list[Rung] = []
        for number in range(len(nest.orders)) if fixed is None else (fixed,):
            every = ladder(nest, number, self.budget)
            most = self.interval or max((rung.asked for rung in every), default=1)
            rungs += self._selected(n, [rung for rung in every if rung.asked <= most])
        rungs.sort(key=lambda r: (r.cost.cycles, r.cost.dsp, r.order, r.vector))
        found = []
        seen: set[tuple[float, tuple[tuple[tuple[str, int], int], ...]]] = set()
        for rung in rungs:
            part = (nest.orders[rung.order], rung.vector)
            alone = self._asked(n, rung)
            key = (rung.cost.cycles, alone.key)
            if key in seen:
                continue
            if alone.possible is None:
                banks = solved(self.variant.program, [part], [rung.asked])
                alone.possible = banks is not None
            if alone.possible:
                seen.add(key)
                found.append(_Option(rung, alone, part))
        return found

    def _asked(self, n: int, rung: Rung) -> _Alone:
        """What a rung of a nest asks of the memories."""
        known, choice = self.known[n], rung.choice
        if choice not in known:
            order = self.variant.nests[n].orders[rung.order]
            known[choice] = _Alone(demand(order, rung.vector), self.program)
        return known[choice]

    def _selected(self, n: int, rungs: Sequence[Rung]) -> list[Rung]:
        """The fastest, and of each smaller number of copies the fastest: others may need the units. Of those that take
        more LUTs by themselves than there are a few only, since estimates err.
        """
        found: list[Rung] = []
        best: dict[int, Rung] = {}
        late = fits = 0
        for rung in rungs:
            if self.fabric is not None and self._lut(n, rung) > self.fabric.lut:
                late += 1
                if late <= WIDTH:
                    found.append(rung)
            elif fits < _RUNGS:
                fits += 1
                found.append(rung)
            else:
                best.setdefault(rung.cost.copies, rung)
        return found + list(best.values())

    def extended(self, state: _State, nest: int) -> list[_State]:
        """The state with each fitting option of one nest more."""
        found: list[_State] = []
        stage = self.stage[nest]
        present = state.open.get(stage) or self._least(stage)
        others = (units for other, units in state.open.items() if other != stage)
        shared = Shared((state.closed, self.untouched[nest], *others))
        done = all(n == nest or n in state.chosen for n in self.stages[stage])
        late = 0  # options that are too large, of which some go along
        for option in self.options[nest]:
            chosen = {**state.chosen, nest: option}
            wanted = self._joined(state.wanted, option.alone, chosen)
            if wanted is None or (option.rung.fills and wanted != state.wanted):
                continue
            units = replaced(present, self.least[nest], option.rung.cost.units)
            if shared.dsp_with(units) > self.budget:
                continue
            lut = state.lut + self._lut(nest, option.rung)
            if self.fabric is not None and lut + self.later_lut[nest] > self.fabric.lut:
                late += 1
                if late > WIDTH:
                    continue
            longest = list(state.longest)
            longest[stage] = max(longest[stage], option.rung.cost.cycles)
            open_ = {k: u for k, u in state.open.items() if k != stage}
            if not done:
                open_[stage] = units
            found.append(
                _State(
                    chosen,
                    wanted,
                    longest,
                    Shared((state.closed, units)).units() if done else state.closed,
                    open_,
                    (*state.waiting, option.rung.choice)
                    if option.rung.asked > 1
                    else state.waiting,
                    self._score(longest, wanted),
                    lut=lut,
                )
            )
            if len(found) - min(late, WIDTH) >= WIDTH * 2:
                break
        return found

    def _lut(self, nest: int, rung: Rung) -> float:
        """LUTs that it does not share, by itself and with its own banks; 0 where they are not planned with."""
        if self.fabric is None:
            return 0.0
        banks = self._asked(nest, rung).demand
        return self.fabric.areas.alone(self.number, nest, rung.choice, rung.cost, banks)

    def _later_lut(self) -> dict[int, float]:
        """When it is a nest's turn: the least LUTs of those that have theirs later."""
        found, later = {}, 0.0
        for n in reversed(self.slowest_first):
            found[n] = later
            later += min(
                (self._lut(n, option.rung) for option in self.options[n][-1:]), default=0.0
            )
        return found

    def fitting_first(self, states: Sequence[_State], full: int) -> Iterator[_State]:
        """States in their order, those behind all others that are estimated to take too much: estimates err. Before
        them come those that leave no room, but for so many that may be ``full``.
        """
        if self.fabric is None:
            yield from states
            return
        late: list[_State] = []
        tight: list[_State] = []
        for state in states:
            over = self._excess(state, self.fabric)
            if over > 0:
                late.append(replace(state, over=over))
            elif over > -_ROOM and full <= 0:
                tight.append(state)
            else:
                full -= over > -_ROOM
                yield state
        yield from tight
        yield from sorted(late, key=lambda s: s.score * (1 + _OVER * s.over))

    def _excess(self, state: _State, fabric: FabricPlan) -> float:
        """The share by which a state is over what there is to plan with; below 0 where it is not."""
        banks = within(self.program, state.wanted, fabric.areas.space.start)
        nests = [
            fabric.areas.nest(self.number, n, option.rung.choice, option.rung.cost, banks)
            for n, option in sorted(state.chosen.items())
        ]
        return fabric.excess(fabric.areas.some(self.number, nests, banks))

    def _joined(self, wanted: Demand, more: _Alone, chosen: Mapping[int, _Option]) -> Demand | None:
        """Both demands, None where an array takes too many banks for it, however it is split."""
        joined = wanted
        for key, factor, extent in more.factors:
            before = wanted.get(key, 1)
            if before % factor == 0:
                continue
            after = common(before, factor, extent)
            if after > extent:
                return None
            if joined is wanted:
                joined = dict(wanted)
            joined[key] = after
        for array in more.arrays:
            banks = prod([f for (name, _), f in joined.items() if name == array])
            if banks > MAX_BANKS:
                parts = [option.part for option in chosen.values()]
                asked = [option.rung.asked for option in chosen.values()]
                ports = [option.ports for option in chosen.values()]
                if not possible(self.program, relaxed(self.program, parts, joined, asked, ports)):
                    return None
                break
        return joined

    def _score(self, longest: Sequence[float], wanted: Demand) -> float:
        banks: dict[str, int] = {}
        for (array, _), factor in wanted.items():
            banks[array] = banks.get(array, 1) * factor
        dear = _BANKS * min(1.0, max(banks.values(), default=1) / MAX_BANKS)
        return (sum(longest) + self.words.waiting(wanted)) * (1 + dear)
