"""Points that a sampler of Optuna suggests, or others where what it suggests is of no use.

What it suggests is priced, and known points are passed over, before there is a trial of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from optuna.distributions import IntDistribution

from dse.space.space import Point
from dse.strategies.nearby import Nearby
from dse.strategies.sampled import INTERVAL, sampled_point

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.study import Study
    from optuna.trial import FrozenTrial

_LOCAL = 0.5  # of what replaces a sampler's points, the share of neighbours of the front


@dataclass(frozen=True, slots=True)
class Asking:
    """A trial that is to have a point.

    Attributes:
        sampler: of Optuna, which may suggest.
        study: of the trial.
        trial: that begins.
    """

    sampler: BaseSampler
    study: Study
    trial: FrozenTrial


class Draw(Protocol):
    """A way to points that nobody has tried."""

    def point(self, asking: Asking, near: Nearby, random: Random) -> Point | None:
        """One, which is taken from ``near``; None where there seem to be no more."""

    def hear(self, trial: FrozenTrial) -> None:
        """A trial has ended."""


@dataclass(frozen=True, slots=True)
class Choices:
    """All of a point is suggested; where that is of no use, it is any point.

    Attributes:
        local: half of those are neighbours of the front. Neighbours alone would leave the sampler with
            a corner of the space to learn from; one that does not learn needs none.
    """

    local: bool = True

    def point(self, asking: Asking, near: Nearby, random: Random) -> Point | None:
        """See `Draw`."""
        point = sampled_point(_Suggestions(asking), near.space)
        if near.affordable(point) and near.take(point):
            return point
        local = self.local and random.random() < _LOCAL
        return (near.next() if local else None) or near.anywhere()

    def hear(self, trial: FrozenTrial) -> None:
        """The sampler reads the study."""


@dataclass(slots=True)
class _Suggestions:
    """What a sampler of Optuna would suggest to a trial; nothing is written into the trial.

    ``together`` are the parameters that it chooses together, with ``values``; the others one by one.
    """

    asking: Asking
    together: dict[str, BaseDistribution] = field(init=False)
    values: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        sampler, study, trial = self.asking.sampler, self.asking.study, self.asking.trial
        inferred = sampler.infer_relative_search_space(study, trial)
        self.together = {n: d for n, d in inferred.items() if not n.endswith(INTERVAL)}
        self.values = sampler.sample_relative(study, trial, self.together)

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """A whole number, both ends included."""
        return int(self._suggest(name, IntDistribution(low, high, log=log)))

    def _suggest(self, name: str, kind: BaseDistribution) -> Any:
        if name in self.values and self.together[name] == kind:
            return self.values[name]
        asking = self.asking
        return asking.sampler.sample_independent(asking.study, asking.trial, name, kind)
