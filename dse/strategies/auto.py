"""The default strategy: POM's two stages, what is solved for the budget, then the front refined.

Where the evaluator finds more DSP than was estimated, the same is solved for as much less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from dse.evaluators.base import Limits, Result, Status
from dse.space.space import Choice, Point, Space
from dse.strategies.filters import filters
from dse.strategies.pom import pom
from dse.strategies.refine import refined
from dse.strategies.search import Search, noted
from dse.strategies.solve import Solution, solve
from dse.strategies.spend import in_vain, less
from dse.strategies.within import only, within

_TRIES = 6  # of one budget, each with less to spend
_IN_VAIN = 2  # times in a row; the odd factor makes dear banks once
_BEST = 2  # solutions of a variant that are evaluated for the whole budget
_SHARED = 4  # solutions that share units: what waiting for them costs is not estimated
_MARGIN = 1.02  # by what share an estimate may be slower than a known design


def opening(space: Space, budget: int, limits: Limits, copies: int | None = None) -> Search:
    """POM's stages, then solutions for the whole budget, best variants first, then the front.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        limits: on all resources.
        copies: of a nest, at most.
    """
    known: dict[Point, Result] = {}
    inside = within(space)
    if limits.supported and inside is not None:
        yield from noted(only(pom(inside.space, budget, limits), inside), known)
        again = solved(inside.space, budget, limits, _BEST, dict(known))
        yield from noted(only(again, inside), known)
    else:
        yield from noted(filters(space, budget), known)
        yield from noted(pom(space, budget, limits), known)
        yield from noted(solved(space, budget, limits, _BEST, dict(known)), known)
    yield from refined(space, budget, limits, known, copies, inside)


def solved(
    space: Space,
    budget: int,
    limits: Limits,
    count: int,
    known: Mapping[Point, Result],
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
    """
    fits = [r.latency for r in known.values() if r.status is Status.OK and r.latency is not None]
    fastest = min(fits, default=inf)
    seen = set(known)
    dear: dict[Point, Result] = {}
    first = [(number, solve(space, number, budget)) for number in range(len(space.variants))]
    for number, solutions in sorted(first, key=lambda f: f[1][0].cycles if f[1] else inf):
        spend = budget
        found = solutions
        before: tuple[int, Result] | None = None
        vain = 0
        for _ in range(_TRIES):
            dearest: Result | None = None
            for solution in _worth(found, count):
                if solution.cycles > _MARGIN * fastest:
                    break
                if solution.point in dear:
                    dearest = dear[solution.point]
                if solution.point in seen:
                    continue
                seen.add(solution.point)
                (result,) = yield (solution.point,)
                if result.latency is None:
                    continue
                if result.status is Status.OK:
                    fastest = min(fastest, result.latency)
                else:
                    dearest = dear[solution.point] = result
                    break
            reduced = None if dearest is None else less(spend, budget, dearest, limits)
            if dearest is None or reduced is None or reduced < 1:
                break
            hopeless = before is not None and in_vain(before, (spend, dearest), limits)
            vain = vain + 1 if hopeless else 0
            if vain == _IN_VAIN:
                break
            before = (spend, dearest)
            spend = reduced
            found = solve(space, number, spend)


def _worth(found: Sequence[Solution], count: int) -> list[Solution]:
    """The first solutions; more of them, one of each kind, where copies share units."""
    if not any(choice.ii > 1 for s in found[:count] for choice in s.point.choices):
        return list(found[:count])
    kinds: dict[tuple[Choice, ...], Solution] = {}
    for solution in found:
        kinds.setdefault(tuple(c for c in solution.point.choices if c.ii > 1), solution)
    return list(kinds.values())[: max(count, _SHARED)]
