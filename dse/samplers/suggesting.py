"""Points that a sampler of Optuna suggests, or others where what it suggests is of no use.

What it suggests is priced, and known points are passed over, before there is a trial of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from dse.libraries import optuna_library
from dse.space.space import Point
from dse.strategies.nearby import Nearby
from dse.strategies.sampled import Suggest, sampled_point, sampled_structure

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.study import Study
    from optuna.trial import FrozenTrial

_LOCAL = 0.5  # of what replaces a sampler's points, the share of neighbours of the front


@dataclass(slots=True)
class Suggestions:
    """What a sampler of Optuna would suggest to a trial; nothing is written into the trial.

    Attributes:
        sampler: that suggests.
        study: of the trial.
        trial: that asks.
        together: the parameters that it chooses together, with ``values``; the others one by one.
    """

    sampler: BaseSampler
    study: Study
    trial: FrozenTrial
    together: dict[str, BaseDistribution] = field(init=False)
    values: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        inferred = self.sampler.infer_relative_search_space(self.study, self.trial)
        self.together = {n: d for n, d in inferred.items() if not n.endswith(".ii")}
        self.values = self.sampler.sample_relative(self.study, self.trial, self.together)

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """A whole number, both ends included."""
        library = optuna_library()
        return int(self._suggest(name, library.distributions.IntDistribution(low, high, log=log)))

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        """A number between the ends."""
        library = optuna_library()
        kind = library.distributions.FloatDistribution(low, high, log=log)
        return float(self._suggest(name, kind))

    def _suggest(self, name: str, kind: BaseDistribution) -> Any:
        if name in self.values and self.together[name] == kind:
            return self.values[name]
        return self.sampler.sample_independent(self.study, self.trial, name, kind)


class Draw(Protocol):
    """A way from suggestions to a point that nobody has tried; None where there seems to be none."""

    def __call__(self, suggest: Suggest, near: Nearby, random: Random) -> Point | None:
        """The point, which is taken from ``near``."""


def structures(suggest: Suggest, near: Nearby, random: Random) -> Point | None:
    """What is solved for a suggested structure; where that is known, a neighbour of the front."""
    solution = sampled_structure(suggest, near.space, near.budget)
    if solution is not None and near.take(solution.point):
        return solution.point
    return near.next() or near.anywhere()


def all_choices(suggest: Suggest, near: Nearby, random: Random) -> Point | None:
    """What is suggested; where that is of no use, as often a neighbour of the front as any point.

    Neighbours alone would leave the sampler with a corner of the space to learn from.
    """
    point = sampled_point(suggest, near.space)
    if near.affordable(point) and near.take(point):
        return point
    local = random.random() < _LOCAL
    return (near.next() if local else None) or near.anywhere()


def independent_choices(suggest: Suggest, near: Nearby, random: Random) -> Point | None:
    """What is suggested; where that is of no use, any point: nothing is learned from the others."""
    point = sampled_point(suggest, near.space)
    if near.affordable(point) and near.take(point):
        return point
    return near.anywhere()
