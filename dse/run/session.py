"""An exploration at work: a strategy's points become trials, evaluated as many at once as there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from random import Random

from dse.evaluators.base import Result, Status
from dse.run.flights import Flights, StopRequestedError
from dse.run.ledger import Begun, Ledger
from dse.run.proposals import Proposals, informed
from dse.run.samplers import SAMPLERS
from dse.space.partitions import NO_PARTITION
from dse.space.space import Point
from dse.strategies.auto import opening
from dse.strategies.pom import Trial, pom
from dse.strategies.sampled import all_points, parameters, sampled_point
from dsl.errors.errors import InputError

STRATEGIES = ("auto", "pom", *SAMPLERS, "exhaustive")
EXHAUSTIVE = 50_000  # points, at most


def _nobody(_: Result) -> None:
    """Hears of no result."""


@dataclass(slots=True)
class Session:
    """Carries out a strategy.

    Attributes:
        ledger: what is known, and what is written down.
        flights: the evaluations under way.
        proposals: points for a sampler; None until points are drawn.
        spent: there are no more points to try.
    """

    ledger: Ledger
    flights: Flights[list[Begun]]
    proposals: Proposals | None = None
    spent: bool = False
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        study = self.ledger.study
        self.random = Random(f"{study.seed}:{study.count}")

    def explore(self) -> None:
        """Carry out the strategy until its trials are spent.

        Raises:
            StopRequestedError: the user asked to stop.
            InputError: W524 the space has too many points for ``exhaustive``.
        """
        self._failed_again()
        space, options = self.ledger.space, self.ledger.options
        match options.strategy:
            case "pom":
                self._drain(pom(space, options.budget, options.limits, self.evaluate))
            case "auto":
                self._drain(opening(space, options.budget, options.limits, self.evaluate))
                self._sampled(structures=True)
            case "exhaustive":
                self._exhaustive()
            case _:
                self._sampled(structures=False)

    # ------------------------------------------------------------------------ points of a strategy

    def _failed_again(self) -> None:
        """What failed in an earlier session, but may go otherwise now, in the place of its trial."""
        ledger = self.ledger
        before = ledger.worth_another_try()
        sampled = ledger.options.strategy in SAMPLERS

        def trials() -> Iterator[Begun]:
            for ended in before:
                assert ended.point is not None
                known = parameters(ended.point, ledger.space) if sampled else {}
                trial = ledger.study.again(ended, known)
                if sampled:
                    sampled_point(trial, ledger.space)
                yield Begun(trial, ended.point)

        self._fly(trials())

    def _drain(self, trials: Iterator[Trial]) -> None:
        for _ in trials:
            if self.ledger.study.count >= self.ledger.options.trials:
                return

    def _sampled(self, structures: bool) -> None:
        self.proposals = proposals = informed(self.ledger, self.random)
        chosen = proposals.structured if structures else proposals.suggested

        def trials() -> Iterator[Begun]:
            while self._more:
                begun = chosen(self.ledger.study.ask())
                if begun is None:
                    self.spent = True
                    return
                yield begun

        self._fly(trials())

    def _exhaustive(self) -> None:
        points: list[Point] = []
        copies = max(1, self.ledger.options.budget)  # some kernels need no slice at all
        for point in all_points(self.ledger.space, copies):
            points.append(point)
            if len(points) > EXHAUSTIVE:
                message = f"the space has more than {EXHAUSTIVE:,} points within the budget"
                raise InputError("W524", message, help="take a smaller --size or --dsp, or auto")
        waiting = (p for p in points if self._fresh(p))
        self.evaluate_all(takewhile(lambda _: self._more, waiting))
        self.spent = self._more

    def _fresh(self, point: Point) -> bool:
        """Whether there is a schedule of a point, and nobody has tried that."""
        job = self.ledger.job(point)
        if job is None:
            return False
        return job.key not in self.ledger.by_key and job.key not in self.flights.flying

    @property
    def _more(self) -> bool:
        flying = sum(map(len, self.flights.flying.values()))
        return self.ledger.study.count + flying < self.ledger.options.trials

    def evaluate(self, point: Point) -> Result:
        """The result of one point: from the run where it is known, else a trial of its own.

        A point that there is no schedule of is no trial.
        """
        job = self.ledger.job(point)
        if job is None:
            return Result(Status.INFEASIBLE, detail=NO_PARTITION)
        if (known := self.ledger.result(job.key)) is not None:
            return known
        results: list[Result] = []
        self.evaluate_all((point,), results.append)
        return results[0]

    def evaluate_all(
        self, points: Iterable[Point], heard: Callable[[Result], None] = _nobody
    ) -> None:
        """Trials of points that there are schedules of, as many at once as there is room.

        Raises:
            StopRequestedError: the user asked to stop.
        """
        self._fly((Begun(self.ledger.study.ask(), point) for point in points), heard)

    # --------------------------------------------------------------------- trials under way

    def _fly(self, trials: Iterator[Begun], heard: Callable[[Result], None] = _nobody) -> None:
        """Keep the fan-out busy with trials until there are no more; they are asked for late.

        Raises:
            StopRequestedError: the user asked to stop; what was under way has ended.
        """
        flights = self.flights
        more = True
        while True:
            more = more and not flights.stopping()
            flights.begin_again()
            while more and flights.free:
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
        found = self.ledger.end(begun, key, result, duplicate=duplicate)
        if self.proposals is not None:
            self.proposals.learn(begun.point, result)
        return found
