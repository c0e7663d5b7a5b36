"""The front refined: what is estimated to improve on it is evaluated, and the estimates corrected.

Candidates are all points of a small space; of a large one, what is solved for many budgets, and the
neighbours of the designs on the front. The errors of the estimates are alike within a structure, so
that a few evaluations of it tell how to correct them. Where nothing is expected to improve on the
front any more, candidates are taken that are expected to be a little worse: estimates err.

A third of the trials is for designs that labels of the tool show, which have a front of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from itertools import product
from math import inf

import numpy as np

from dse.evaluators.base import Limits, Result, Status
from dse.space.space import Point, Space
from dse.strategies.estimates import (
    Correction,
    Figures,
    Structure,
    figures_of,
    front_of,
    structure_of,
)
from dse.strategies.fabric import PLANNED, FabricBudget, FabricPlan
from dse.strategies.gains import Floats, gains_over, promising
from dse.strategies.neighbours import longer_intervals, neighbours, shorter_intervals
from dse.strategies.patience import ENDLESS, Patience
from dse.strategies.pool import Alike, Pool, alike_of
from dse.strategies.search import Search
from dse.strategies.small_spaces import affordable, is_small
from dse.strategies.solve import Solution, solve
from dse.strategies.too_much import SHORT, TooMuch
from dse.strategies.within import Within

_BATCH = 6  # candidates that are evaluated before estimates are corrected anew
_SLACK = (1e-9, 0.02, 0.05, 0.1, 0.2)  # by what share a candidate may be expected to be worse
_EXCESS = (0.0, 0.1, 0.3)  # by what share it may be expected to take too many LUTs
_NEAR = 0.05
"""Share of a limit. Of a structure of which a design was over a limit, one that is so near to it is in a batch."""
_STEPS = (
    *((_SLACK[0], excess) for excess in _EXCESS),
    *((slack, 0.0) for slack in _SLACK[1:]),
    *((slack, inf) for slack in _SLACK),
)
_SEEN = 0.01  # by what share a point counts as slower for each one seen that is alike
_LEVELS = 24
"""Budgets that a large space is solved for, each a fifth less than the one before; for fewer trials fewer of the same range."""
_LESS = 0.8
_FEWEST = 6
_EACH_TRIAL = 1  # budgets for each trial that is left: most of what is planned for others no trial is left for
_EACH = 3  # solutions of each
_FAR = 1.5
"""Times the cycles of the fastest variant for a budget, above which a variant is not solved for it. With less to spend
none gets faster; estimates err, but seldom by so much."""
_SHARES = (
    1.25,
    0.8,
    0.6,
)  # of the LUTs, that the whole budget is solved for, too: estimates of them err
_OF_LOGIC = 1024  # copies of what takes LUTs alone
_UNSURE = 2.5  # times the budget, up to which estimates of LUTs may turn out to be within it
_SMALLER = (1.0, 0.98, 0.95, 0.9)  # of a budget that a limit on something else would allow
_BETWEEN = (0.25, 0.5, 0.75)  # on the way to it: not all of what is too much grows with the copies
_OF_TRIALS = 3  # one of so many is for what labels show


def refined(
    space: Space,
    budget: int,
    limits: Limits,
    known: MutableMapping[Point, Result],
    fabric: FabricBudget,
    copies: int | None = None,
    inside: Within | None = None,
    patience: Patience = ENDLESS,
) -> Search:
    """Evaluate candidates, the most promising first, until none is left.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        limits: on all resources.
        known: what was evaluated before; it grows.
        fabric: LUTs and block RAM that a design may use, and what is known of them; it learns.
        copies: of a nest, at most; as many as there may be DSP slices if it is not given, more of what takes
            none.
        inside: what labels show; None where that is not asked.
        patience: how long it may take: budgets that are not planned by then are left out.
    """
    most = copies or (max(budget, _OF_LOGIC) if space.logic else budget)

    planned: dict[int, _Planned] = {}  # of a space

    def started(on: Space, shown: Within | None) -> _Search:
        left = patience.trials - sum(result.evaluated for result in known.values())
        plans = planned.setdefault(id(on), {})
        one = _Search(on, budget, limits, most, fabric, plans, shown, patience, left)
        for point, result in known.items():
            one.learn(point, result)
        return one

    leads, apart = None, inside
    if limits.supported and inside is not None:
        # Factors that divide keep more often to what labels show; the others are tried beside them.
        leads, apart = inside.even(), inside if inside.tails else None
    search = started(space if leads is None else leads.space, leads)
    beside: _Search | None = None  # planned where it is asked for only
    tried: set[Point] = set()
    step = 0
    while step < len(_STEPS):
        chosen = []
        if apart is not None and _owed(known, tried if limits.supported else None):
            beside = beside or started(apart.space, apart)
            chosen = beside.choose(*_STEPS[0])
            chosen = chosen or (beside.choose(*_STEPS[0]) if beside.grow() else [])
            tried.update(chosen)
        chosen = chosen or search.choose(*_STEPS[step])
        if not chosen:
            if search.grow() or search.too_much.reopened():
                continue
            step += 1
            continue
        results = yield tuple(chosen)
        for point, result in zip(chosen, results, strict=True):
            known[point] = result
            fabric.learn(point, result)
            for one in (search, beside):
                if one is not None:
                    one.learn(point, result)
        step = 0


def budgets(most: float, trials: float) -> list[float]:
    """Budgets that a large space is solved for, the largest first.

    Args:
        most: the largest.
        trials: that are left.
    """
    count = int(min(_LEVELS, max(_FEWEST, _EACH_TRIAL * trials)))
    return [most * _LESS ** (n * _LEVELS / count) for n in range(count)]


def _owed(known: Mapping[Point, Result], tried: set[Point] | None) -> bool:
    """Whether fewer than a third of the designs so far are such as labels show, or of those that were ``tried``."""
    evaluated = [point for point, result in known.items() if result.evaluated]
    found = sum(known[p].supported if tried is None else p in tried for p in evaluated)
    return _OF_TRIALS * found < len(evaluated)


_Planned = dict[object, tuple[Solution, ...]]
"""What was solved for, of a space: searches for designs of two kinds plan much the same."""


class _Search:
    """The candidates, what is known of them, and the front."""

    def __init__(
        self,
        space: Space,
        budget: int,
        limits: Limits,
        copies: int,
        fabric: FabricBudget,
        planned: _Planned,
        inside: Within | None = None,
        patience: Patience = ENDLESS,
        trials: float = inf,
    ) -> None:
        self.space, self.budget, self.limits = space, budget, limits
        self.estimates, self.fabric, self.inside = fabric.estimates, fabric, inside
        self.patience = patience
        self.correction = Correction()
        self.pool = Pool()
        self.done: set[Point] = set()
        self.fits: dict[Point, Figures] = {}
        self.grown: set[Point] = set()
        self.shortened: set[Point] = set()
        self.measured: dict[Alike, list[Figures]] = {}
        self.too_much = TooMuch(space)
        # What LUTs are counted as is known less well than DSP slices are: corrections will tell.
        self.most = budget * (_UNSURE if space.logic else 1.0)
        self.levels: set[tuple[int, int]] = set()  # of a variant, that it was solved for besides
        self.planned = planned
        self.small = is_small(space, copies)
        for point in affordable(space, copies, self.estimates) if self.small else ():
            if point is None:
                self.small = False
            else:
                self._add(point)
        for point in () if self.small else self._solved(trials):
            self._add(point)

    def _solved(self, trials: float) -> Iterator[Point]:
        """Solutions for budgets from the whole one down, as many as so many trials are worth."""
        cycles = dict.fromkeys(range(len(self.space.variants)), 0.0)  # that it takes at least
        fits = dict.fromkeys(cycles, inf)  # of what is expected to keep to the limits
        spent = dict.fromkeys(cycles, inf)  # that less to spend than that changes something
        for n, level in enumerate(budgets(self.most, trials)):
            fastest = inf
            for number in sorted(cycles, key=cycles.__getitem__):
                if cycles[number] > _FAR * fastest or self.patience.is_over:
                    break
                if level < spent[number]:
                    found = self._planned(number, max(1, round(level)))
                    yield from (solution.point for solution in found)
                    # Where nothing was found there may be something for less: a beam ends where nests do not go together.
                    cycles[number] = min((s.cycles for s in found), default=cycles[number])
                    settled = self.space.variants[number].is_settled
                    spent[number] = 0 if settled else max((s.dsp for s in found), default=inf)
                    fits[number] = min((s.cycles for s in found if s.over <= 0), default=inf)
                fastest = min(fastest, fits[number])
            near = [number for number, least in cycles.items() if least <= _FAR * fastest]
            for number, share in product(near, () if n or self.fabric.free else _SHARES):
                if self.patience.is_over:
                    return
                plan = self.fabric.plan(number, share)
                found = self._planned(number, max(1, round(level)), plan)
                yield from (solution.point for solution in found)

    def _planned(
        self, variant: int, level: int, plan: FabricPlan | None = None
    ) -> tuple[Solution, ...]:
        """The best points of a variant for a budget; where copies share units for long, those of short intervals too:
        what the multiplexers of long ones cost is known less well.
        """
        plan = plan or self.fabric.plan(variant)
        # Budgets of a few slices are rounded to the same ones.
        key = variant, level, None if plan is None else (plan.lut, plan.bram18)
        if key not in self.planned:
            nests = self.space.variants[variant].nests
            shares = any(nest.shares_units(order) for nest in nests for order in nest.orders)
            found = self._best(variant, level, plan, None)
            if shares and any(choice.ii > SHORT for s in found for choice in s.point.choices):
                found += self._best(variant, level, plan, SHORT)
            self.planned[key] = found
        return self.planned[key]

    def _best(
        self, variant: int, level: int, plan: FabricPlan | None, interval: int | None
    ) -> tuple[Solution, ...]:
        found = solve(self.space, variant, level, width=2 * _EACH, interval=interval, fabric=plan)
        return found[:_EACH]

    def _add(self, point: Point) -> None:
        if self.inside is not None and not self.inside(point):
            return
        figures = self.estimates.figures(point)
        if figures.dsp <= self.most:
            self.pool.add(point, figures)

    def learn(self, point: Point, result: Result) -> None:
        """What came of a point."""
        self.done.add(point)
        estimated = self.estimates.figures(point)
        found = figures_of(self.space, result)
        if found is not None:
            self.correction.learn(point, estimated, found)
            self.measured.setdefault(alike_of(point, estimated), []).append(found)
        if result.status is Status.OK and found is not None:
            if self.inside is None or result.supported:
                self.fits[point] = found
            return
        excess = self.limits.excess(result)
        over = [e for n, e in excess.items() if n not in ("dsp", "latency")]
        if over:
            self.too_much.learn(point, estimated.dsp, max(over))
            for near in longer_intervals(self.space, point):
                self._add(near)
            self._smaller(point, estimated.dsp, max(over), only=set(excess) <= {*PLANNED, "dsp"})

    def _smaller(self, point: Point, dsp: float, over: float, only: bool) -> None:
        """Candidates a little smaller than a design that is over a limit of what grows with the copies; ``only`` of
        what is planned with.
        """
        if self.small:
            return
        variant = point.variant
        if not self.fabric.free:
            plan = self.fabric.plan(variant, most=self.fabric.lut_of(point) / (1 + over))
            for near in self._planned(variant, max(1, round(self.most)), plan):
                self._add(near.point)
            if only:
                return
        within = [dsp * share / (1 + over) for share in _SMALLER]
        for wanted in (*(dsp / (1 + over) ** part for part in _BETWEEN), *within):
            level = min(int(wanted), round(dsp) - 1)
            if level > 0 and (variant, level) not in self.levels:
                self.levels.add((variant, level))
                for near in self._planned(variant, level):
                    self._add(near.point)

    def grow(self) -> bool:
        """Neighbours of the front of a large space as further candidates; false where none is new."""
        if self.small:
            return False
        front = set(map(_pair, front_of(self.fits.values())))
        fresh = [p for p, f in self.fits.items() if _pair(f) in front and p not in self.grown]
        before = len(self.pool.points)
        for point in fresh:
            self.grown.add(point)
            for near in neighbours(self.space, point):
                self._add(near)
        return len(self.pool.points) > before

    def choose(self, slack: float, excess: float) -> list[Point]:
        """The candidates that are expected to improve most on the front and on one another.

        The fastest of them is there with shorter intervals, too, as long as these are expected to fit: plans have
        intervals in steps of a quarter.

        Args:
            slack: the share by which they may be expected to be worse.
            excess: the share by which they may be expected to take too many LUTs, or too much block RAM.
        """
        fastest = min((found.cycles for found in self.fits.values()), default=inf)
        first = self._chosen(slack, excess, 1)
        while first and first[0] not in self.shortened:
            self.shortened.add(first[0])
            if self.estimates.figures(first[0]).cycles > fastest:
                break
            for near in shorter_intervals(first[0]):
                self._add(near)
            first = self._chosen(slack, excess, 1)
        return self._chosen(slack, excess, _BATCH) if first else []

    def _chosen(self, slack: float, excess: float, count: int) -> list[Point]:
        """So many of these candidates, at most."""
        pool = self.pool
        if not pool.points:
            return []
        cycles, dsp = self._expected()
        front = front_of(self.fits.values())
        open_ = np.array([p not in self.done for p in pool.points])
        open_ &= dsp <= self.budget
        most = np.array([self.too_much.ceiling(s) for _, s in pool.structures])
        open_ &= np.array(pool.dsp) <= most[np.array(pool.numbers)]
        chosen: list[Point] = []
        doubtful: set[Structure] = set()
        while len(chosen) < count:
            gains = np.where(open_, gains_over(front, cycles, dsp), -np.inf)
            for best in promising(gains, cycles, slack, first=not chosen):
                point = pool.points[best]
                open_[best] = False
                share = self.fabric.excess(point)
                if share > excess:
                    continue
                structure = structure_of(point)
                near = share > -_NEAR and structure in self.too_much.known
                if near and structure in doubtful:
                    continue  # what comes of the other one tells of it: they err alike
                if self._possible(point):
                    chosen.append(point)
                    doubtful.update({structure} if near else ())
                    expected = Figures(float(cycles[best]), float(dsp[best]))
                    front = front_of([*front, expected])
                    break
                self.done.add(point)
            else:
                break
        return chosen

    def _possible(self, point: Point) -> bool:
        """Not known to be too large, and its banks go together."""
        return not self.too_much.rules_out(point) and self.space.schedule(point) is not None

    def _expected(self) -> tuple[Floats, Floats]:
        """Corrected cycles and DSP of all candidates."""
        pool = self.pool
        factors = np.array([self.correction.factors(s, ruled=by) for by, s in pool.structures])
        each = factors[np.array(pool.numbers)]
        cycles = np.array(pool.cycles) * each[:, 0]
        dsp = (np.array(pool.dsp) + 1) * each[:, 1] - 1
        for key, found in self.measured.items():
            if (members := pool.alike.get(key)) is not None:
                # The more of them were seen, the less another one is worth.
                cycles[members] = min(f.cycles for f in found) * (1 + _SEEN * len(found))
                dsp[members] = min(f.dsp for f in found)
        return cycles, dsp


def _pair(figures: Figures) -> tuple[float, float]:
    return figures.cycles, figures.dsp
