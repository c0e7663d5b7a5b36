"""An exploration at work: points in, results out, each kept before anyone hears of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from random import Random
from typing import TYPE_CHECKING

from backends.devices import Device
from dse.evaluators.base import Evaluator, Limits, Request, Result, Status, judged
from dse.run.cache import ResultCache
from dse.run.codec import key_of, point_to_json
from dse.run.directory import RunDirectory
from dse.run.fanout import Done, Fanout, Here, Job
from dse.run.problem import Problem
from dse.run.proven import sound
from dse.run.samplers import SAMPLERS
from dse.run.study import Finished, Study, replacing
from dse.space.partitions import NO_PARTITION
from dse.space.space import Point, Space
from dse.strategies.auto import opening
from dse.strategies.nearby import Nearby
from dse.strategies.pom import Trial, pom
from dse.strategies.sampled import all_points, parameters, sampled_point, sampled_structure
from dsl.errors.errors import InputError

if TYPE_CHECKING:
    from optuna.trial import Trial as Asked

STRATEGIES = ("auto", "pom", *SAMPLERS, "exhaustive")
EXHAUSTIVE = 50_000  # points, at most
_LOCAL = 0.5  # of what replaces a sampler's points, the share of neighbours of the front
_PATIENCE = 0.5  # seconds between looks at what else there is to do


class StopRequestedError(Exception):
    """The user asked to stop: what is finished is kept."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to do with a space."""

    device: Device
    clock: float
    limits: Limits
    strategy: str
    trials: int
    problem: Problem | None = None  # whose bounds hold for every design

    @property
    def budget(self) -> int:
        """DSP slices that a design may use."""
        return self.limits.resources.get("dsp", self.device.dsp)


@dataclass(frozen=True, slots=True)
class _Flight:
    """A trial that waits for a result."""

    trial: Asked
    point: Point


@dataclass(slots=True)
class Session:
    """Evaluates points for a strategy and tells the run, the study and the user of them."""

    run: RunDirectory
    space: Space
    study: Study
    evaluator: Evaluator
    options: Options
    heard: Callable[[Finished, Result, int], None]  # the last: trials with an end so far
    stopping: Callable[[], bool]
    fanout: Fanout = field(default_factory=lambda: Here(60.0))
    cache: ResultCache = field(default_factory=ResultCache)
    by_key: dict[str, Finished] = field(default_factory=dict)
    flying: dict[str, list[_Flight]] = field(default_factory=dict)
    again: list[Job] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)  # keys of results that are worth another try
    random: Random = field(init=False)
    nearby: Nearby | None = None  # from when points are drawn
    spent: bool = False  # there are no more points to try

    def __post_init__(self) -> None:
        self.by_key = {f.key: f for f in self.study.finished.values() if f.key}
        self.random = Random(f"{self.study.seed}:{self.study.count}")

    def explore(self) -> None:
        """Carry out the strategy until its trials are spent.

        Raises:
            StopRequestedError: the user asked to stop.
            InputError: W524 the space has too many points for ``exhaustive``.
        """
        self._failed_again()
        match self.options.strategy:
            case "pom":
                budget, limits = self.options.budget, self.options.limits
                self._drain(pom(self.space, budget, limits, self.evaluate))
            case "auto":
                budget, limits = self.options.budget, self.options.limits
                self._drain(opening(self.space, budget, limits, self.evaluate))
                self._sampled(structures=True)
            case "exhaustive":
                self._exhaustive()
            case _:
                self._sampled(structures=False)

    def _failed_again(self) -> None:
        """What failed in an earlier session, but may go otherwise now, in the place of its trial."""
        before = [f for key, f in self.by_key.items() if key in self.failed and f.point is not None]
        sampled = self.options.strategy in SAMPLERS

        def flights() -> Iterator[_Flight]:
            for ended in before:
                assert ended.point is not None
                known = parameters(ended.point, self.space) if sampled else {}
                trial = self.study.again(ended, known)
                if sampled:
                    sampled_point(trial, self.space)
                yield _Flight(trial, ended.point)

        self._fly(flights())

    def _drain(self, trials: Iterator[Trial]) -> None:
        for _ in trials:
            if self.study.count >= self.options.trials:
                return

    def evaluate(self, point: Point) -> Result:
        """The result of one point: from the run where it is known, else a trial of its own.

        A point that there is no schedule of is no trial.
        """
        request = self._request(point)
        if request is None:
            return Result(Status.INFEASIBLE, detail=NO_PARTITION)
        key = key_of(request, self.evaluator)
        if key in self.by_key and (known := self.run.result(key)) is not None:
            return judged(known, self.options.limits)
        results: list[Result] = []
        self._evaluate_all((point,), results.append)
        return results[0]

    def _request(self, point: Point) -> Request | None:
        schedule = self.space.schedule(point)
        if schedule is None:
            return None
        return Request(self.space.program, schedule, self.options.device, self.options.clock)

    def _sampled(self, structures: bool) -> None:
        nearby = self._informed()
        chosen = self._structured if structures else self._suggested

        def flights() -> Iterator[_Flight]:
            while self._more:
                flight = chosen(self.study.ask(), nearby)
                if flight is None:
                    self.spent = True
                    return
                yield flight

        self._fly(flights())

    def _informed(self) -> Nearby:
        """Points that nobody has tried, as far as is known of all that has ended."""
        self.nearby = Nearby(self.space, self.options.budget, self.random)
        for ended in self.study.finished.values():
            if ended.point is not None:
                self._learn(self.nearby, ended.point, self.run.result(ended.key))
        return self.nearby

    def _structured(self, trial: Asked, nearby: Nearby) -> _Flight | None:
        """What is solved for a suggested structure; where that is known, another point."""
        solution = sampled_structure(trial, self.space, self.options.budget)
        if solution is not None and nearby.take(solution.point):
            return _Flight(trial, solution.point)
        self.study.drop(trial)
        other = nearby.next() or nearby.anywhere()
        return None if other is None else _Flight(self.study.ask(), other)

    def _suggested(self, trial: Asked, nearby: Nearby) -> _Flight | None:
        """What a sampler suggests; where that is of no use, another point, of which it learns."""
        point = sampled_point(trial, self.space)
        if nearby.affordable(point) and nearby.take(point):
            return _Flight(trial, point)
        # By turns: neighbours alone would leave the sampler with a corner of the space to learn from.
        local = self.options.strategy != "random" and self.random.random() < _LOCAL
        other = (nearby.next() if local else None) or nearby.anywhere()
        if other is None:
            self.study.drop(trial)
            return None
        trial = self.study.instead(trial, parameters(other, self.space))
        return _Flight(trial, sampled_point(trial, self.space))

    def _learn(self, nearby: Nearby, point: Point, result: Result | None) -> None:
        fits = result is not None and judged(result, self.options.limits).status is Status.OK
        nearby.learn(point, self.study.values(result) if result and fits else None)

    @property
    def _more(self) -> bool:
        flying = sum(map(len, self.flying.values()))
        return self.study.count + flying < self.options.trials

    def _exhaustive(self) -> None:
        points: list[Point] = []
        copies = max(1, self.options.budget)  # some kernels need no slice at all
        for point in all_points(self.space, copies):
            points.append(point)
            if len(points) > EXHAUSTIVE:
                message = f"the space has more than {EXHAUSTIVE:,} points within the budget"
                raise InputError("W524", message, help="take a smaller --size or --dsp, or auto")
        waiting = (p for p in points if self._fresh(p))
        self._evaluate_all(takewhile(lambda _: self._more, waiting))
        self.spent = self._more

    def _fresh(self, point: Point) -> bool:
        """Whether there is a schedule of a point, and nobody has tried that."""
        request = self._request(point)
        if request is None:
            return False
        key = key_of(request, self.evaluator)
        return key not in self.by_key and key not in self.flying

    def _evaluate_all(
        self, points: Iterable[Point], heard: Callable[[Result], None] = lambda _: None
    ) -> None:
        self._fly((_Flight(self.study.ask(), point) for point in points), heard)

    # --------------------------------------------------------------------- trials under way

    def _fly(
        self, flights: Iterator[_Flight], heard: Callable[[Result], None] = lambda _: None
    ) -> None:
        """Keep the fan-out busy with trials until there are no more; they are asked for late.

        Raises:
            StopRequestedError: the user asked to stop; what was under way has ended.
        """
        more = True
        while True:
            if self.stopping():
                more = False
                while self.again:  # not under way any more
                    del self.flying[self.again.pop().key]
            while self.again and self.fanout.free > 0:
                self.fanout.begin(self.again.pop())
            while more and not self.again and self.fanout.free > 0:
                flight = next(flights, None)
                more = flight is not None
                if flight is not None and (result := self._begin(flight)) is not None:
                    heard(result)
                if self.stopping():
                    break
            if not self.flying and not more:
                break
            for done in self.fanout.ended(_PATIENCE):
                if (result := self._landed(done)) is not None:
                    heard(result)
        if self.stopping():
            raise StopRequestedError

    def _begin(self, flight: _Flight) -> Result | None:
        """Start a trial; its result where that is known at once."""
        trial, point = flight.trial, flight.point
        request = self._request(point)
        assert request is not None, "only points with a schedule are tried"
        key = key_of(request, self.evaluator)
        self.study.begin(trial, point, key)
        if key in self.failed:
            self.failed.discard(key)
        elif (known := self.run.result(key)) is not None:
            return self._told(flight, key, known, duplicate=key in self.by_key)
        if key in self.flying:
            self.flying[key].append(flight)
            return None
        self.run.begin(key, request.schedule, point_to_json(point))
        self.flying[key] = [flight]
        job = Job(key, self.evaluator, request)
        if (cached := self.cache.get(key)) is not None:
            return self._landed(Done(job, cached))
        self.fanout.begin(job)
        return None

    def _landed(self, done: Done) -> Result | None:
        """Keep what has ended and tell of it; what has no result goes on."""
        if done.result is None:
            self.again.append(done.job)
            return None
        key, result = done.job.key, sound(done.result, self.options.problem)
        self.run.keep(key, result)
        self.cache.put(key, result)
        first, *others = self.flying.pop(key)
        told = self._told(first, key, result)
        for flight in others:
            self._told(flight, key, result, duplicate=True)
        return told

    def _told(self, flight: _Flight, key: str, result: Result, duplicate: bool = False) -> Result:
        """Write down what came of a trial; the result as the limits judge it."""
        found = judged(result, self.options.limits)
        shown = replace(found, status=Status.DUPLICATE) if duplicate else found
        ended = self.study.end(flight.trial, flight.point, key, shown)
        if not duplicate:
            self.by_key[key] = ended
        if self.nearby is not None:
            self._learn(self.nearby, flight.point, result)
        self.run.event(
            "trial", number=ended.number, key=key, status=shown.status.value,
            **replacing(flight.trial),
        )  # fmt: skip
        self.heard(ended, shown, self.study.count)
        return found
