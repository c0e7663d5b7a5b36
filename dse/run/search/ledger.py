"""What is known of an exploration's points, and what came of its trials: kept before anyone hears."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backends.devices import Device
from dse.evaluators.base import Evaluator, Limits, Request, Result, Status, judged
from dse.run.folder.cache import ResultCache
from dse.run.folder.codec import key_of, point_to_json
from dse.run.folder.directory import RunDirectory
from dse.run.folder.problem import Problem
from dse.run.folder.proven import sound
from dse.run.predictor.beside import Beside
from dse.run.studies.study import Finished, Study, replacing
from dse.run.workers.fanout import Job
from dse.space.space import Point, Space
from dse.strategies.patience import ENDLESS, Patience
from dse.strategies.sampled import has_point

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial
    from optuna.trial import Trial as Asked

    from dse.samplers.space_sampler import Goal
    from qor_gnn.tools.operators.calibration import Calibration


@dataclass(frozen=True, slots=True)
class Options:
    """What to do with a space."""

    device: Device
    clock: float
    limits: Limits
    strategy: str
    trials: int
    problem: Problem | None = None  # whose bounds hold for every design
    seed: int = 0
    parallel: bool = False  # points are asked for while others are evaluated
    tool: str | None = None  # the personality that is asked for; None for that of the device
    calibration: Calibration | None = None  # measurements of the user's own
    patience: Patience = ENDLESS

    @property
    def budget(self) -> int:
        """DSP slices that a design may use."""
        return self.limits.resources.get("dsp", self.device.dsp)


@dataclass(frozen=True, slots=True)
class Begun:
    """A trial that waits for a result, and its point."""

    trial: Asked
    point: Point


@dataclass(slots=True)
class Ledger:
    """A run's folder, its study and the cache of results as one book of the trials.

    Attributes:
        run: open for writing.
        space: of its kernel.
        study: of the run.
        evaluator: of its points.
        options: what the points are for.
        heard: told of each trial that has ended, and how many have so far.
        cache: where results may be that the run has not.
        failed: keys of results of the run that are worth another try.
        beside: the predictor that is asked about designs; None where there is none.
        by_key: the trials that have ended with a result of their own.
        earlier: those of sessions before.
    """

    run: RunDirectory
    space: Space
    study: Study
    evaluator: Evaluator
    options: Options
    heard: Callable[[Finished, Result, int], None]
    cache: ResultCache = field(default_factory=ResultCache)
    failed: set[str] = field(default_factory=set)
    beside: Beside | None = None
    by_key: dict[str, Finished] = field(init=False)
    earlier: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        self.by_key = {f.key: f for f in self.study.finished.values() if f.key}
        self.earlier = frozenset(self.study.finished)

    @property
    def has_design(self) -> bool:
        """Whether a trial has ended with a design that keeps to the limits."""
        return any(f.status is Status.OK for f in self.by_key.values())

    def job(self, point: Point) -> Job | None:
        """The evaluation of a point; None where there is no schedule of it."""
        schedule = self.space.schedule(point)
        if schedule is None:
            return None
        asked = self.options
        request = Request(
            self.space.program, schedule, asked.device, asked.clock, asked.tool, asked.calibration
        )
        return Job(key_of(request, self.evaluator), self.evaluator, request)

    @property
    def goal(self) -> Goal:
        """What a sampler searches."""
        from dse.samplers.space_sampler import Goal

        options = self.options
        return Goal(
            self.space,
            options.budget,
            options.limits,
            self.study.values,
            self._heard,
            options.patience,
        )

    def _heard(self, trial: FrozenTrial) -> tuple[Point, Result] | None:
        """The point of a trial that has ended, and its result; None where it has none.

        The structures of a space that was cut short have other numbers in the whole one: points are told by their schedules.
        """
        ended = self.study.finished.get(trial.number)
        if ended is None or ended.point is None or not has_point(self.space, ended.point):
            return None
        result = self.run.result(ended.key)
        earlier = result is not None and trial.number in self.earlier
        if earlier and self.run.schedule(ended.key) != self.space.schedule(ended.point):
            return None
        return None if result is None else (ended.point, result)

    def worth_another_try(self) -> list[Finished]:
        """Trials of points that failed, but may end otherwise now."""
        failed = (f for key, f in self.by_key.items() if key in self.failed)
        return [f for f in failed if f.point is not None and has_point(self.space, f.point)]

    def begin(self, begun: Begun, key: str) -> Result | None:
        """Write down what a trial is about; the result where the run has one that is to stay."""
        self.study.begin(begun.trial, begun.point, key)
        if key in self.failed:
            self.failed.discard(key)
            return None
        return self.run.result(key)

    def describe(self, point: Point, job: Job) -> None:
        """Keep what a point is, before its result is known."""
        self.run.begin(job.key, job.request.schedule, point_to_json(point))
        if self.beside is not None:
            self.beside.tried(job.key)

    def keep(self, key: str, result: Result) -> Result:
        """Keep a result, which is held against the proven bounds first, and what is predicted of it."""
        plain = sound(result, self.options.problem)
        self.cache.put(key, plain)  # of this evaluator alone: others may do without a predictor
        found = plain if self.beside is None else self.beside.heed(key, plain)
        self.run.keep(key, found)
        return found

    def end(self, begun: Begun, key: str, result: Result, *, duplicate: bool) -> Result:
        """Write down what came of a trial, and tell of it; the result as the limits judge it."""
        found = judged(result, self.options.limits)
        shown = replace(found, status=Status.DUPLICATE) if duplicate else found
        ended = self.study.end(begun.trial, begun.point, key, shown)
        if not duplicate:
            self.by_key[key] = ended
        self.run.event(
            "trial", number=ended.number, key=key, status=shown.status.value,
            **replacing(begun.trial),
        )  # fmt: skip
        self.heard(ended, shown, self.study.count)
        return found
