"""Promotion: what looks best to the search is evaluated again by something costlier.

The designs on the front go first, the fastest before the others. One that is found to be wrong
leaves the front, and what comes up in its place is promoted too, until the whole front is or the
budget is spent. What is found is kept next to the figures that the search went by: figures of
different provenance are not ranked together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dse.evaluators.base import Evaluator, Request, Result, judged
from dse.run.folder.cache import ResultCache
from dse.run.folder.codec import key_of
from dse.run.folder.directory import RunDirectory
from dse.run.folder.problem import problem_of
from dse.run.folder.proven import sound
from dse.run.results.front import Design, designs, front, limits_of
from dse.run.workers.fanout import Job
from dse.run.workers.flights import Flights, StopRequestedError


@dataclass(slots=True)
class Promotion:
    """Designs of a run on their way through one costlier evaluator.

    Attributes:
        run: open for writing.
        evaluator: the costlier one.
        request: of a run's design, by its key.
        most: designs that are evaluated again at most, those of earlier sessions included.
        heard: told of each.
        flights: the evaluations under way, and whether the user asked to stop.
        cache: where results may be.
        chosen: which of the run's designs to evaluate, the most wanted first, as far as is known.
        failed: keys of designs that were promoted before, but are to be once more.
    """

    run: RunDirectory
    evaluator: Evaluator
    request: Callable[[str], Request]
    most: int
    heard: Callable[[Design, Result], None]
    flights: Flights[Design]
    cache: ResultCache = field(default_factory=ResultCache)
    chosen: Callable[[tuple[Design, ...]], tuple[Design, ...]] = front
    failed: set[str] = field(default_factory=set)

    def carry_out(self) -> None:
        """Promote until the front is through or the budget is spent.

        Raises:
            StopRequestedError: the user asked to stop; what was under way has ended.
        """
        flights = self.flights
        while True:
            waiting = [] if flights.stopping() else self._candidates()
            flights.begin_again()
            while waiting and flights.free:
                self._begin(waiting.pop(0))
            if not flights.flying and not waiting:
                break
            for job, design, result in flights.ended():
                self._landed(job.key, design, result)
        if flights.stopping():
            raise StopRequestedError

    def _candidates(self) -> list[Design]:
        found = designs(self.run)
        spent = {design.key for design in self.flights.flying.values()}
        for design in (*found, *designs(self.run, refuted=True)):
            if self.evaluator.name in design.promoted and design.key not in self.failed:
                spent.add(design.key)
        fresh = [design for design in self.chosen(found) if design.key not in spent]
        return fresh[: max(0, self.most - len(spent))]

    def _begin(self, design: Design) -> None:
        self.failed.discard(design.key)
        request = self.request(design.key)
        key = key_of(request, self.evaluator)
        if (cached := self.cache.get(key)) is not None:
            self._landed(key, design, cached)
        else:
            self.flights.begin(Job(key, self.evaluator, request), design)

    def _landed(self, key: str, design: Design, found: Result) -> None:
        result = judged(sound(found, problem_of(self.run)), limits_of(self.run))
        self.run.promote(design.key, self.evaluator.name, result)
        self.cache.put(key, found)
        self.run.event(
            "promoted", key=design.key, evaluator=self.evaluator.name, status=result.status.value,
            seconds=round(result.seconds, 3),
        )  # fmt: skip
        self.heard(design, result)
