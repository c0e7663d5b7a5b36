"""The default strategy: POM's two stages, what is solved for the budget, then the front refined.

Where the evaluator finds more DSP than was estimated, the same is solved for as much less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dse.evaluators.base import Limits, Result
from dse.space.space import Point, Space
from dse.strategies.pom import Trial, pom
from dse.strategies.refine import refined
from dse.strategies.solve import Solution, solve
from dse.strategies.spend import less

_TRIES = 4  # of one budget, each with less to spend
_BEST = 2  # solutions of a variant that are evaluated for the whole budget


def opening(
    space: Space,
    budget: int,
    limits: Limits,
    evaluate: Callable[[Point], Result],
    copies: int | None = None,
) -> Iterator[Trial]:
    """POM's stages, then solutions for the whole budget, best variants first, then the front.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        limits: on all resources.
        evaluate: gives the figures of a point.
        copies: of a nest, at most.
    """
    known: dict[Point, Result] = {}

    def noted(point: Point) -> Result:
        known[point] = evaluate(point)
        return known[point]

    yield from pom(space, budget, limits, noted)
    yield from solved(space, budget, limits, _BEST, noted, set(known))
    yield from refined(space, budget, limits, evaluate, known, copies)


def solved(
    space: Space,
    budget: int,
    limits: Limits,
    count: int,
    evaluate: Callable[[Point], Result],
    seen: set[Point],
) -> Iterator[Trial]:
    """The best estimated points for one budget; again with less where they turn out too dear."""
    spend = budget
    for _ in range(_TRIES):
        fastest: Result | None = None
        for solution in _ranked(space, spend, count):
            if solution.point in seen:
                continue
            seen.add(solution.point)
            result = evaluate(solution.point)
            yield Trial(solution.point, result, f"solved for {spend} of {budget} DSP")
            if result.latency is not None and (
                fastest is None or result.latency < (fastest.latency or 0.0)
            ):
                fastest = result
        reduced = None if fastest is None else less(spend, budget, fastest, limits)
        if reduced is None or reduced < 1:
            return
        spend = reduced


def _ranked(space: Space, budget: int, count: int) -> list[Solution]:
    """The fastest few of each variant by estimate, those of hopeless variants left out."""
    found: list[Solution] = []
    for number in range(len(space.variants)):
        found += solve(space, number, budget)[:count]
    found.sort(key=lambda s: s.cycles)
    return [s for s in found if s.cycles <= 3 * found[0].cycles]
