"""One trial, or two, for structures in which no copies wait for one another, in front of those whose chains nobody has scheduled."""

from __future__ import annotations

from dse.evaluators.base import Status
from dse.space.space import Space
from dse.strategies.fabric import FabricBudget
from dse.strategies.relieved import relieved
from dse.strategies.search import Search
from dse.strategies.solve import solve


def certain(space: Space, budget: int, fabric: FabricBudget) -> Search:
    """The fastest of the structures that are `certain` and estimated to fit, if there is one.

    Of copies that hand elements of an array to one another, plans know the operators, not that each store might be of
    what is read next. So structures full of those come first by their estimates, and take all of a short search.

    Args:
        space: of the kernel.
        budget: DSP slices that a design may use.
        fabric: LUTs and block RAM that it may use; learns of a design over a limit.
    """
    found = []
    for number, variant in enumerate(space.variants):
        if not variant.certain:
            continue
        for solution in solve(space, number, budget, fabric=fabric.plan(number))[:1]:
            figures = fabric.estimates.figures(solution.point)
            if figures.dsp <= budget and solution.over <= 0:
                found.append((figures.cycles, number, solution.point))
    if found:
        point = min(found)[2]
        (result,) = yield (point,)
        if result.status is not Status.INFEASIBLE:
            return
        fabric.learn(point, result)
        near = relieved(point, fabric)
        if near is not None:
            (result,) = yield (near,)
            fabric.learn(near, result)
