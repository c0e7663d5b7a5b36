"""Points for a sampler's trials: what it suggests, or where that is of no use, another point."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from dse.evaluators.base import Result, Status, judged
from dse.run.ledger import Begun, Ledger
from dse.space.space import Point
from dse.strategies.nearby import Nearby
from dse.strategies.sampled import parameters, sampled_point, sampled_structure

if TYPE_CHECKING:
    from optuna.trial import Trial as Asked

_LOCAL = 0.5  # of what replaces a sampler's points, the share of neighbours of the front


@dataclass(frozen=True, slots=True)
class Proposals:
    """Points that nobody has tried, by what is known of all that has ended.

    Attributes:
        ledger: of the exploration.
        random: chooses.
        nearby: what has been tried, and other points.
    """

    ledger: Ledger
    random: Random
    nearby: Nearby

    def learn(self, point: Point, result: Result | None) -> None:
        """What came of a point."""
        ledger = self.ledger
        fits = result is not None and judged(result, ledger.options.limits).status is Status.OK
        self.nearby.learn(point, ledger.study.values(result) if result and fits else None)

    def structured(self, trial: Asked) -> Begun | None:
        """What is solved for a suggested structure; where that is known, another point."""
        ledger = self.ledger
        solution = sampled_structure(trial, ledger.space, ledger.options.budget)
        if solution is not None and self.nearby.take(solution.point):
            return Begun(trial, solution.point)
        ledger.study.drop(trial)
        other = self.nearby.next() or self.nearby.anywhere()
        return None if other is None else Begun(ledger.study.ask(), other)

    def suggested(self, trial: Asked) -> Begun | None:
        """What a sampler suggests; where that is of no use, another point, of which it learns."""
        ledger = self.ledger
        point = sampled_point(trial, ledger.space)
        if self.nearby.affordable(point) and self.nearby.take(point):
            return Begun(trial, point)
        # Neighbours alone would leave the sampler with a corner of the space to learn from.
        local = ledger.options.strategy != "random" and self.random.random() < _LOCAL
        other = (self.nearby.next() if local else None) or self.nearby.anywhere()
        if other is None:
            ledger.study.drop(trial)
            return None
        trial = ledger.study.instead(trial, parameters(other, ledger.space))
        return Begun(trial, sampled_point(trial, ledger.space))


def informed(ledger: Ledger, random: Random) -> Proposals:
    """Proposals that know of all trials that have ended so far."""
    found = Proposals(ledger, random, Nearby(ledger.space, ledger.options.budget, random))
    for ended in ledger.study.finished.values():
        if ended.point is not None:
            found.learn(ended.point, ledger.run.result(ended.key))
    return found
