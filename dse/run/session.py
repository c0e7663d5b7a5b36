"""An exploration at work: points in, results out, each kept before anyone hears of it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backends.devices import Device
from dse.evaluators.base import Evaluator, Limits, Request, Result, Status, judged
from dse.run.codec import key_of, point_to_json
from dse.run.directory import RunDirectory
from dse.run.study import Finished, Study
from dse.space.space import Point, Space
from dse.strategies.auto import opening
from dse.strategies.pom import Trial, pom
from dse.strategies.sampled import all_points, sampled_point, sampled_structure
from dse.workers import run_tasks
from dsl.errors import InputError

if TYPE_CHECKING:
    from optuna.trial import Trial as Asked

STRATEGIES = ("auto", "pom", "tpe", "nsga2", "nsga3", "random", "exhaustive")
EXHAUSTIVE = 50_000  # points, at most
_CHEAP = 1.0  # seconds: what costs less is evaluated in this process if only one is asked for
_PRELOAD = ("dse.evaluators.model", "dse.run.session")


class StopRequestedError(Exception):
    """The user asked to stop: what is finished is kept."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to do with a space. ``seconds`` limits one evaluation; ``jobs`` are processes."""

    device: Device
    clock: float
    limits: Limits
    strategy: str
    trials: int
    jobs: int
    seconds: float
    seed: int

    @property
    def budget(self) -> int:
        """DSP slices that a design may use."""
        return self.limits.resources.get("dsp", self.device.dsp)


@dataclass(slots=True)
class Session:
    """Evaluates points for a strategy and tells the run, the study and the user of them."""

    run: RunDirectory
    space: Space
    study: Study
    evaluator: Evaluator
    options: Options
    heard: Callable[[Finished, Result], None]
    stopping: Callable[[], bool]
    by_key: dict[str, Finished] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.by_key = {f.key: f for f in self.study.finished.values() if f.key}

    def explore(self) -> None:
        """Carry out the strategy until its trials are spent.

        Raises:
            StopRequestedError: the user asked to stop.
            InputError: W524 the space has too many points for ``exhaustive``.
        """
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

    def _drain(self, trials: Iterator[Trial]) -> None:
        for _ in trials:
            if self.study.count >= self.options.trials:
                return

    def evaluate(self, point: Point) -> Result:
        """The result of one point: from the run where it is known, else a trial of its own."""
        request = self._request(point)
        if request is not None:
            key = key_of(request, self.evaluator)
            if key in self.by_key and (known := self.run.result(key)) is not None:
                return judged(known, self.options.limits)
        return self._batch([(self.study.ask(), point)])[0]

    def _request(self, point: Point) -> Request | None:
        schedule = self.space.schedule(point)
        if schedule is None:
            return None
        return Request(self.space.program, schedule, self.options.device, self.options.clock)

    def _sampled(self, structures: bool) -> None:
        while self.study.count < self.options.trials:
            batch: list[tuple[Asked, Point | None]] = []
            for _ in range(min(self.options.jobs, self.options.trials - self.study.count)):
                trial = self.study.ask()
                if structures:
                    solution = sampled_structure(trial, self.space, self.options.budget)
                    batch.append((trial, solution.point if solution else None))
                else:
                    batch.append((trial, sampled_point(trial, self.space)))
            self._batch(batch)

    def _exhaustive(self) -> None:
        points = []
        for point in all_points(self.space, copies=self.options.budget):
            points.append(point)
            if len(points) > EXHAUSTIVE:
                message = f"the space has more than {EXHAUSTIVE:,} points within the budget"
                raise InputError("W524", message, help="take a smaller --size or --dsp, or auto")
        jobs = self.options.jobs
        waiting = [p for p in points if not self._known(p)]
        for start in range(0, min(len(waiting), self.options.trials), jobs):
            self._batch([(self.study.ask(), p) for p in waiting[start : start + jobs]])

    def _known(self, point: Point) -> bool:
        request = self._request(point)
        return request is not None and key_of(request, self.evaluator) in self.by_key

    def _batch(self, batch: Sequence[tuple[Asked, Point | None]]) -> list[Result]:
        """Evaluate trials in processes of their own; results in the order of the batch."""
        if self.stopping():
            raise StopRequestedError
        results: dict[int, Result] = {}
        tasks: dict[str, list[int]] = {}
        requests: dict[str, Request] = {}
        for n, (trial, point) in enumerate(batch):
            request = None if point is None else self._request(point)
            if point is None or request is None:
                results[n] = Result(Status.INFEASIBLE, detail="needs more banks than there may be")
                self._told(trial, point, "", results[n])
                continue
            key = key_of(request, self.evaluator)
            self.study.begin(trial, point, key)
            known = self.run.result(key)
            if known is not None:
                status = Status.DUPLICATE if key in self.by_key else known.status
                results[n] = judged(known, self.options.limits)
                self._told(trial, point, key, replace(results[n], status=status))
                continue
            tasks.setdefault(key, []).append(n)
            requests[key] = request
        for key, result in self._evaluated(requests):
            for n in tasks[key]:
                trial, point = batch[n]
                assert point is not None
                self.run.keep(key, requests[key].schedule, point_to_json(point), result)
                results[n] = judged(result, self.options.limits)
                self._told(trial, point, key, results[n])
        return [results[n] for n in range(len(batch))]

    def _evaluated(self, requests: dict[str, Request]) -> Iterator[tuple[str, Result]]:
        jobs, seconds = self.options.jobs, self.options.seconds
        if jobs == 1 and self.evaluator.cost < _CHEAP:
            for key, request in requests.items():
                yield key, within(seconds, self.evaluator, request)
            return
        keys = {id(request): key for key, request in requests.items()}
        tasks = list(requests.values())
        for ended in run_tasks(self.evaluator.evaluate, tasks, jobs, seconds, _PRELOAD):
            key = keys[id(ended.task)]
            if ended.result is not None:
                yield key, ended.result
            elif ended.failure.startswith("no answer"):
                yield key, Result(Status.TIMEOUT, detail=ended.failure, seconds=seconds)
            else:
                last = ended.failure.strip().splitlines()[-1]
                yield key, Result(Status.TOOL_ERROR, detail=last)

    def _told(self, trial: Asked, point: Point | None, key: str, result: Result) -> None:
        found = self.study.end(trial, point, key, result)
        if key and result.status is not Status.DUPLICATE:
            self.by_key[key] = found
        self.run.event("trial", number=found.number, key=key, status=result.status.value)
        self.heard(found, result)


def within(seconds: float, evaluator: Evaluator, request: Request) -> Result:
    """Evaluate here, but for so long at most."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return evaluator.evaluate(request)
    except TimeoutError:
        return Result(Status.TIMEOUT, detail=f"no answer in {seconds:g} s", seconds=seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
