"""The default strategy: POM's two stages, what is solved for the budget, then the front refined; where nothing fits, the
smallest designs before.

Where the evaluator finds more DSP than was estimated, the same is solved for as much less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from dse.evaluators.base import Limits, Result, Status
from dse.space.space import Choice, Point, Space
from dse.strategies.certain import certain
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import FabricBudget, FabricPlan, fabric_budget
from dse.strategies.filters import filters
from dse.strategies.missed import MARGIN, Missed
from dse.strategies.one_block import one_block
from dse.strategies.patience import ENDLESS, Patience
from dse.strategies.pom import pom
from dse.strategies.refine import refined
from dse.strategies.relieved import relieved
from dse.strategies.search import Search, noted
from dse.strategies.smallest import smallest
from dse.strategies.solve import Solution, solve
from dse.strategies.spend import Spend
from dse.strategies.within import only, within

_TRIES = 6  # of one budget, each with less to spend
_BEST = 2  # solutions of a variant that are evaluated for the whole budget
_SHARED = 4  # solutions that share units: what waiting for them costs is not estimated
_RANKED = 8  # solutions of a variant of which ranking is asked, which knows their schedules
_PLANS = 8  # with less to spend, one after the other, until it says of one that it fits
_ANEW = 2  # plans of one budget, each with what ranking says of the one before
_EXCESS = 0.1  # by what share a design may be estimated to take too many LUTs; others have their turn later


def opening(
    space: Space,
    budget: int,
    limits: Limits,
    copies: int | None = None,
    patience: Patience = ENDLESS,
) -> Search:
    """POM's stages, then solutions for the whole budget, best variants first, then the front.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        limits: on all resources.
        copies: of a nest, at most.
        patience: how long it may take.
    """
    known: dict[Point, Result] = {}
    inside = within(space)
    fabric = fabric_budget(Estimates(space), limits)
    if limits.supported and inside is not None:
        even = inside.even()
        yield from noted(only(pom(even.space, budget, limits, fabric), even), known)
        yield from noted(only(smallest(even.space, budget, fabric, dict(known)), even), known)
        again = solved(even.space, budget, limits, _BEST, dict(known), fabric, patience)
        yield from noted(only(again, even), known)
    else:
        yield from noted(filters(space, budget, fabric), known)
        yield from noted(pom(space, budget, limits, fabric), known)
        yield from noted(smallest(space, budget, fabric, known), known)
        yield from noted(one_block(space, budget, fabric, dict(known)), known)
        yield from noted(certain(space, budget, fabric), known)
        again = solved(space, budget, limits, _BEST, dict(known), fabric, patience)
        yield from noted(again, known)
    yield from refined(space, budget, limits, known, fabric, copies, inside, patience)


def solved(
    space: Space,
    budget: int,
    limits: Limits,
    count: int,
    known: Mapping[Point, Result],
    fabric: FabricBudget | None = None,
    patience: Patience = ENDLESS,
) -> Search:
    """The best estimated points for one budget, of the fastest variants first.

    A variant of which a design turns out too dear is solved again with less to spend. What is
    estimated to be slower than a design that is known to fit is left out.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        limits: on all resources.
        count: designs of a variant that are evaluated for one budget, at most.
        known: what was evaluated before.
        fabric: LUTs and block RAM that a design may use; learns of designs.
        patience: how long it may take: variants that are not solved in half of that are left out.
    """
    fabric = fabric or fabric_budget(Estimates(space), limits)
    fits = [r.latency for r in known.values() if r.status is Status.OK and r.latency is not None]
    fastest = min(fits, default=inf)
    seen = set(known)
    dear: dict[Point, Result] = {}
    missed = Missed(space, fabric.estimates)
    first: list[tuple[int, tuple[Solution, ...]]] = []
    for number in range(len(space.variants)):
        if any(found for _, found in first) and patience.is_planned:
            break
        first.append((number, solve(space, number, budget, fabric=fabric.plan(number))))
    estimates = fabric.estimates
    for number, solutions in sorted(first, key=lambda f: _promise(f[1], estimates)):
        spend = Spend(budget, fabric)
        found: Sequence[Solution] = solutions
        for _ in range(_TRIES):
            dearest: Point | None = None
            found = _fitting(space, number, spend, found, fastest)
            fresh = [solution for solution in found if solution.point not in dear]
            for solution in _worth(fresh or found, count):
                if missed.is_slower(solution, fastest) or solution.over > _EXCESS:
                    break
                if solution.point in dear:
                    dearest = solution.point
                if solution.point in seen:
                    continue
                seen.add(solution.point)
                (result,) = yield (solution.point,)
                fabric.learn(solution.point, result)
                if result.latency is None:
                    continue
                missed.learn(solution, result)
                if result.status is Status.OK:
                    fastest = min(fastest, result.latency)
                else:
                    dearest = solution.point
                    dear[dearest] = result
                    near = relieved(dearest, fabric, fastest)
                    if near is not None and near not in seen:
                        seen.add(near)
                        (result,) = yield (near,)
                        fabric.learn(near, result)
                        if result.status is Status.OK and result.latency is not None:
                            fastest = min(fastest, result.latency)
                    break
            before = spend.dsp, spend.plan(number)
            if dearest is None or not spend.reduced(dearest, dear[dearest], limits):
                break
            if not fresh and (spend.dsp, spend.plan(number)) == before:
                break  # the same solutions again
            found = solve(space, number, spend.dsp, fabric=spend.plan(number))


def _promise(found: Sequence[Solution], estimates: Estimates) -> tuple[bool, float]:
    """What fits by its estimate goes first, the fastest first of all, as ranking says."""
    if not found:
        return True, inf
    return found[0].over > 0, estimates.figures(found[0].point).cycles


def _fitting(
    space: Space, number: int, spend: Spend, found: Sequence[Solution], fastest: float
) -> Sequence[Solution]:
    """As `_planned`; where ranking says that all of them take too many LUTs, those of a plan with as many fewer as plans
    of the variant turned out to count too few.
    """
    planned = _planned(space, number, spend, found)
    for _ in range(_ANEW):
        late = planned and planned[0].over > 0 and planned[0].cycles <= MARGIN * fastest
        if not late or spend.fabric.free:
            break
        anew = solve(space, number, spend.dsp, fabric=spend.plan(number))
        again = _planned(space, number, spend, anew)
        if not again or again[0].point == planned[0].point:
            break
        planned = again
    return planned


def _planned(
    space: Space, number: int, spend: Spend, found: Sequence[Solution]
) -> Sequence[Solution]:
    """The solutions of which ranking says that they fit, with its figures, the fastest first; where there is none,
    those of a plan with less. Units of addresses in banks, and of what factors leave, planning does not know, nor
    what the banks that all nests ask for together take in LUTs.
    """
    if space.logic:  # estimates of LUTs err
        figures = spend.fabric.estimates.figures
        told = [replace(s, cycles=figures(s.point).cycles) for s in _worth(found, _RANKED)]
        return sorted(told, key=lambda s: (s.over > 0, s.cycles))
    for _ in range(_PLANS):
        plan = spend.plan(number)
        ranked = [_ranked(s, spend.fabric, plan) for s in _worth(found, _RANKED)]
        fit = [solution for solution in ranked if solution.dsp <= spend.budget]
        if fit or not ranked:
            return sorted(fit, key=lambda s: (s.over > 0, s.cycles))
        if not spend.lowered(min(solution.dsp for solution in ranked) - spend.budget):
            break
        found = solve(space, number, spend.dsp, fabric=spend.plan(number))
    return ()


def _ranked(solution: Solution, fabric: FabricBudget, plan: FabricPlan | None) -> Solution:
    """The solution with the figures of ranking, which tell what plans count too little."""
    estimates = fabric.estimates
    figures = estimates.figures(solution.point)
    over = solution.over
    if plan is not None:
        over = plan.excess(estimates.area(solution.point))
        fabric.rank(solution.point, solution.lut)
    return replace(solution, cycles=figures.cycles, dsp=figures.dsp, over=over)


def _worth(found: Sequence[Solution], count: int) -> list[Solution]:
    """The first solutions; more of them, one of each kind, where copies share units."""
    if not any(choice.ii > 1 for s in found[:count] for choice in s.point.choices):
        return list(found[:count])
    kinds: dict[tuple[Choice, ...], Solution] = {}
    for solution in found:
        kinds.setdefault(tuple(c for c in solution.point.choices if c.ii > 1), solution)
    return list(kinds.values())[: max(count, _SHARED)]
