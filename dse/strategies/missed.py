"""Which solutions are not worth an evaluation: what is estimated to be slower than a design that is known.

Of structures whose copies wait for each other in ways that nobody has planned, estimates are far too low. One design says so of all structures of its
family (`dse.space.variant.Variant.family`), which would take a trial each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from dse.evaluators.base import Result, Status
from dse.space.space import Space
from dse.strategies.estimates import Estimates
from dse.strategies.solve import Solution

MARGIN = 1.02  # by what share an estimate may be slower than a known design
_RULED = 1.1  # the same of estimates that no schedule tells, which err by more
_KIN = 1.3  # the same in the family of the fastest design that was found: its nests are those of that one, so what it takes is in question
_FAR = 4.0  # times its estimate that a design takes which says so of its family


@dataclass(slots=True)
class Missed:
    """By how much estimates missed, by families."""

    space: Space
    estimates: Estimates
    times: dict[str, float] = field(default_factory=dict)
    best: str = ""  # the family of the fastest design
    fastest: float = inf

    def is_slower(self, solution: Solution, fastest: float) -> bool:
        """Whether a solution is estimated to be slower than so many cycles."""
        point = solution.point
        family = self.space.variants[point.variant].family
        margin = MARGIN
        if self.estimates.figures(point).ruled:
            margin = _KIN if family == self.best else _RULED
        return solution.cycles * self.times.get(family, 1.0) > margin * fastest

    def learn(self, solution: Solution, result: Result) -> None:
        """What a design took."""
        if result.latency is None:
            return
        family = self.space.variants[solution.point.variant].family
        times = result.latency / max(1.0, solution.cycles)
        if result.status is Status.OK and result.latency < self.fastest:
            self.best, self.fastest = family, result.latency
            self.times[family] = min(1.0, times)
        if times > _FAR:
            self.times[family] = max(self.times.get(family, 1.0), times)
