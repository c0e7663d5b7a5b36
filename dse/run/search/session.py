"""An exploration at work: a strategy's points become trials, evaluated as many at once as there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dse.evaluators.base import Result
from dse.run.search.ledger import Begun, Ledger
from dse.run.workers.flights import Flights, StopRequestedError
from dse.samplers.strategies import space_sampler
from dse.space.space import Point
from dse.strategies.sampled import has_point, sampled_point

if TYPE_CHECKING:
    from dse.samplers.space_sampler import SpaceSampler


def _nobody(_: Result) -> None:
    """Hears of no result."""


@dataclass(slots=True)
class Session:
    """Carries out a strategy.

    Attributes:
        ledger: what is known, and what is written down.
        flights: the evaluations under way.
        sampler: chooses the points of trials.
        spent: there are no more points to try.
    """

    ledger: Ledger
    flights: Flights[list[Begun]]
    sampler: SpaceSampler = field(init=False)
    spent: bool = False

    def __post_init__(self) -> None:
        options = self.ledger.options
        self.sampler = space_sampler(
            self.ledger.goal, options.strategy, options.seed, parallel=options.parallel
        )
        self.ledger.study.study.sampler = self.sampler

    def explore(self, first: Sequence[Point] = ()) -> None:
        """Carry out the strategy until its trials are spent.

        Args:
            first: points that come before those of the strategy; those that were evaluated, or are none of
                the space, are left out.

        Raises:
            StopRequestedError: the user asked to stop.
        """
        self._failed_again()
        self._fly(self._given(first))
        study = self.ledger.study.study
        self._fly(self._chosen(), waits=lambda: self.sampler.waits(study))

    # ------------------------------------------------------------------------ points of a strategy

    def _failed_again(self) -> None:
        """What failed in an earlier session, but may go otherwise now, in the place of its trial."""
        before = self.ledger.worth_another_try()

        def trials() -> Iterator[Begun]:
            for ended in before:
                assert ended.point is not None
                yield self._begun(ended.point, replaces=ended.number)

        self._fly(trials())

    def _given(self, points: Sequence[Point]) -> Iterator[Begun]:
        ledger = self.ledger
        for point in points:
            if not self._more:
                return
            if has_point(ledger.space, point):
                job = ledger.job(point)
                if job is not None and job.key not in ledger.by_key:
                    yield self._begun(point)

    def _chosen(self) -> Iterator[Begun]:
        """Trials of what the sampler chooses."""
        study = self.ledger.study
        while self._more:
            if self.ledger.options.patience.is_over:  # and nothing has come of it
                yield from self._given([self.ledger.space.plain()])
                return
            if self.sampler.ended(study.study):
                self.spent = self.ledger.options.strategy != "pom"
                return
            trial = study.ask()
            if self.sampler.spent:
                study.drop(trial)
                self.spent = True
                return
            yield Begun(trial, sampled_point(trial, self.ledger.space, shared=True))

    def _begun(self, point: Point, replaces: int | None = None) -> Begun:
        """A trial of a point that is given."""
        self.sampler.put(point)
        trial = self.ledger.study.ask(replaces)
        return Begun(trial, sampled_point(trial, self.ledger.space, shared=True))

    @property
    def _more(self) -> bool:
        if self.ledger.options.patience.is_over and self.ledger.has_design:
            return False
        flying = sum(map(len, self.flights.flying.values()))
        return self.ledger.study.count + flying < self.ledger.options.trials

    def evaluate_all(
        self, points: Iterable[Point], heard: Callable[[Result], None] = _nobody
    ) -> None:
        """Trials of given points that there are schedules of, as many at once as there is room.

        Raises:
            StopRequestedError: the user asked to stop.
        """
        self._fly(map(self._begun, points), heard)

    # --------------------------------------------------------------------- trials under way

    def _fly(
        self,
        trials: Iterator[Begun],
        heard: Callable[[Result], None] = _nobody,
        waits: Callable[[], bool] = lambda: False,
    ) -> None:
        """Keep the fan-out busy with trials until there are no more; they are asked for late.

        Args:
            trials: to begin.
            heard: told of results.
            waits: whether the next one is not known before one under way has ended.

        Raises:
            StopRequestedError: the user asked to stop; what was under way has ended.
        """
        flights = self.flights
        more = True
        while True:
            more = more and not flights.stopping()
            flights.begin_again()
            while more and flights.free and not (flights.flying and waits()):
                begun = next(trials, None)
                more = begun is not None
                if begun is not None and (result := self._begin(begun)) is not None:
                    heard(result)
                if flights.stopping():
                    break
            if not flights.flying and not more:
                break
            for job, waiting, result in flights.ended():
                heard(self._landed(waiting, job.key, result))
        if flights.stopping():
            raise StopRequestedError

    def _begin(self, begun: Begun) -> Result | None:
        """Start a trial; its result where that is known at once."""
        ledger, flying = self.ledger, self.flights.flying
        job = ledger.job(begun.point)
        assert job is not None, "only points with a schedule are tried"
        known = ledger.begin(begun, job.key)
        if known is not None:
            return self._ended(begun, job.key, known, duplicate=job.key in ledger.by_key)
        if job.key in flying:
            flying[job.key].append(begun)
            return None
        ledger.describe(begun.point, job)
        if (cached := ledger.cache.get(job.key)) is not None:
            return self._landed([begun], job.key, cached)
        self.flights.begin(job, [begun])
        return None

    def _landed(self, waiting: list[Begun], key: str, result: Result) -> Result:
        """Keep what has ended, and tell of it: the first trial that waits has it, the others again."""
        kept = self.ledger.keep(key, result)
        first, *others = waiting
        told = self._ended(first, key, kept, duplicate=False)
        for begun in others:
            self._ended(begun, key, kept, duplicate=True)
        return told

    def _ended(self, begun: Begun, key: str, result: Result, *, duplicate: bool) -> Result:
        return self.ledger.end(begun, key, result, duplicate=duplicate)
