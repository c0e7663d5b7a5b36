"""The strategies by name, each a sampler of Optuna."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dse.libraries import optuna_library
from dse.samplers.optunas import sampler
from dse.space.space import Point, Space
from dse.strategies.auto import opening
from dse.strategies.names import SAMPLERS, Sampler
from dse.strategies.pom import pom
from dse.strategies.sampled import all_points
from dse.strategies.search import Search
from dsl.errors.errors import InputError

if TYPE_CHECKING:
    from dse.samplers.space_sampler import Goal, SpaceSampler, Strategy

EXHAUSTIVE = 50_000  # points, at most


def space_sampler(
    goal: Goal, strategy: str, seed: int = 0, *, parallel: bool = False
) -> SpaceSampler:
    """The sampler of a strategy.

    Args:
        goal: what is searched.
        strategy: one of `dse.strategies.names.STRATEGIES`.
        seed: of its random numbers.
        parallel: points are asked for while others are evaluated.

    Raises:
        InputError: W523 Optuna is not installed; W524 the space has too many points for
            ``exhaustive``; W528 ``gp`` needs PyTorch and SciPy.
    """
    optuna_library(quiet=False)
    from dse.samplers.space_sampler import SpaceSampler

    drawn: Sampler = next((name for name in SAMPLERS if name == strategy), "tpe")
    make = partial(sampler, drawn, parallel=parallel)
    return SpaceSampler(goal, _strategy(strategy, goal), make, seed)


def _strategy(name: str, goal: Goal) -> Strategy:
    from dse.samplers.space_sampler import Strategy
    from dse.samplers.structures import Structures
    from dse.samplers.suggesting import Choices

    space, budget, limits = goal.space, goal.budget, goal.limits
    match name:
        case "auto":
            return Strategy(
                lambda: opening(space, budget, limits, patience=goal.patience), Structures()
            )
        case "pom":
            return Strategy(lambda: pom(space, budget, limits))
        case "exhaustive":
            points = _enumerated(space, max(1, budget))  # some kernels need no slice at all
            return Strategy(lambda: _at_once(points))
        case "random":
            return Strategy(draw=Choices(local=False))
        case _:
            return Strategy(draw=Choices())


def _enumerated(space: Space, copies: int) -> tuple[Point, ...]:
    points: list[Point] = []
    for point in all_points(space, copies):
        points.append(point)
        if len(points) > EXHAUSTIVE:
            message = f"the space has more than {EXHAUSTIVE:,} points within the budget"
            raise InputError("W524", message, help="take a smaller --size or --dsp, or auto")
    return tuple(points)


def _at_once(points: tuple[Point, ...]) -> Search:
    yield points
