"""A sampler of Optuna that chooses points of a space for trials; the strategies are made of it.

Optuna asks a sampler parameter by parameter, while the trial is at work. Here the point is chosen as the
trial begins, and its parameters are what the trial is told when it asks (`dse.strategies.sampled`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.trial import TrialState

from dse.evaluators.base import Limits, Result, Status, judged
from dse.samplers.known import Known
from dse.samplers.steps import Steps
from dse.samplers.suggesting import Asking, Draw
from dse.space.space import Point, Space
from dse.strategies.nearby import Nearby
from dse.strategies.patience import ENDLESS, Patience
from dse.strategies.sampled import parameters, sampled_point
from dse.strategies.search import Search
from dsl.schedules.schedule import Schedule

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

_LOST = Result(Status.TOOL_ERROR, detail="its trials ended without a result")


@dataclass(frozen=True, slots=True)
class Goal:
    """What is searched, and what for.

    Attributes:
        space: of the kernel.
        budget: DSP slices that a design may use.
        limits: on all resources.
        values: the objectives of a result, all to be small; None where it has not all of them.
        heard: the point of a trial that has ended, and what came of it; None where the trial is of
            something else, or came to nothing.
        patience: how long the search may take.
    """

    space: Space
    budget: int
    limits: Limits
    values: Callable[[Result], tuple[float, ...] | None]
    heard: Callable[[FrozenTrial], tuple[Point, Result] | None]
    patience: Patience = ENDLESS


@dataclass(frozen=True, slots=True)
class Strategy:
    """How points are chosen: a search first, if there is one, then draws, if there are any."""

    search: Callable[[], Search] | None = None
    draw: Draw | None = None


class SpaceSampler(BaseSampler):
    """Chooses points of a space, each once.

    A trial's point is known by the parameters that `dse.strategies.sampled.sampled_point` asks for, so
    any objective that asks for these can be used. All that it goes by is in the study: a sampler that is
    made for a study which was begun elsewhere, or whose process was killed, goes on from there. The same
    seed and the same results give the same points.
    """

    def __init__(
        self,
        goal: Goal,
        strategy: Strategy,
        make: Callable[[int], BaseSampler],
        seed: int,
    ) -> None:
        """Nothing is chosen yet.

        Args:
            goal: what is searched.
            strategy: how.
            make: makes the sampler, of a seed, that is asked for what the strategy draws, and for
                parameters which are none of a point.
            seed: one that goes on with a study draws other numbers than before.
        """
        self.goal = goal
        self.spent = False
        """There was no point left for the last trial that began."""
        self._strategy, self._make, self._seed = strategy, make, seed
        self._sampler = make(seed)
        self._random = Random(f"{seed}:0")
        self._known = Known(goal.space)
        self._steps: Steps | None = None
        if strategy.search is not None:
            self._steps = Steps(strategy.search, self._known, goal.patience.ends)
        self._near: Nearby | None = None
        self._next: deque[Point] = deque()
        self._given: dict[int, Point] = {}  # by the numbers of trials that have not ended
        self._elsewhere: dict[int, Point] = {}  # of other processes
        self._told: dict[int, dict[str, tuple[int, IntDistribution]]] = {}
        self._heard = 0  # trials from the first on that are known, but for these:
        self._running: list[int] = []
        self._left: frozenset[int] = frozenset()  # that ran before this sampler was made
        self._lost: set[Point] = set()
        self._begun = False
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ for those who ask and tell

    def put(self, point: Point) -> None:
        """The next trial is about this point, be it known or not.

        Raises:
            LookupError, ValueError: the space does not have it.
        """
        parameters(point, self.goal.space)
        self._next.append(point)

    def waits(self, study: Study) -> bool:
        """Whether a trial had better begin when one of those under way has ended."""
        with self._lock:
            self._hear(study)
            steps = self._steps
            return steps is not None and not steps.ready(self._under_way) and not steps.ended

    def ended(self, study: Study) -> bool:
        """Whether the strategy has no further point; one that draws points finds out by a trial."""
        with self._lock:
            self._hear(study)
            return self.spent if self._strategy.draw is not None else self._over

    # --------------------------------------------------------------------------- Optuna's interface

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Choose the trial's point.

        Where there is none left the study that is being optimized stops after this trial.
        """
        with self._lock:
            self._hear(study, trial.number)
            self._sampler.before_trial(study, trial)
            point = self._chosen(study, trial)
            self.spent = point is None
            if point is None:
                _stop(study)
                return
            self._given[trial.number] = point
            self._told[trial.number] = _told(point, self.goal.space)
            if self._near is not None:
                self._near.take(point)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The parameters of the trial's point."""
        return {name: kind for name, (_, kind) in self._told.get(trial.number, {}).items()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Their values."""
        told = self._told.get(trial.number, {})
        return {name: told[name][0] for name in search_space}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A parameter that is none of the point's."""
        with self._lock:
            return self._sampler.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Hear what came of the trial, where it says so already.

        A study that is being optimized stops where a search was all there is, and has ended.
        """
        with self._lock:
            self._sampler.after_trial(study, trial, state, values)
            if (heard := self.goal.heard(trial)) is not None:
                self._know(*heard)
            if self._strategy.draw is None and self._over:
                _stop(study)

    def reseed_rng(self) -> None:
        """For trials of several threads: they share this sampler, and the points that it has given."""
        self._sampler.reseed_rng()

    # ----------------------------------------------------------------------------------- what is known

    @property
    def _under_way(self) -> set[Schedule]:
        points = (*self._given.values(), *self._elsewhere.values())
        found = (self._known.schedule(point) for point in points)
        return {schedule for schedule in found if schedule is not None}

    def _hear(self, study: Study, begins: int = -1) -> None:
        """What came of trials that have ended since.

        Args:
            study: of the trials.
            begins: the number of the trial that is to have a point.
        """
        trials = study.get_trials(deepcopy=False)
        fresh = range(self._heard, len(trials))
        ended = [n for n in (*self._running, *fresh) if trials[n].state.is_finished()]
        self._running = [n for n in (*self._running, *fresh) if not trials[n].state.is_finished()]
        self._heard = len(trials)
        for number in ended:
            self._learn(trials[number])
        if self._begun:
            others = (n for n in self._running if n != begins)
            self._elsewhere = {n: p for n in others if (p := self._of(trials[n])) is not None}
        else:
            # What runs already may be left from a process that was killed: nobody waits for that.
            self._begun = True
            self._left = frozenset(self._running)
            if ended:
                self._random = Random(f"{self._seed}:{len(self._known)}")
                self._sampler = self._make(_mixed(self._seed, len(ended)))

    def _of(self, trial: FrozenTrial) -> Point | None:
        """The point of a trial of another process; None where it has not asked for all of it yet."""
        if trial.number in self._given or trial.number in self._left:
            return None
        try:
            return sampled_point(_Answers(trial.params), self.goal.space, shared=True)
        except LookupError:
            return None

    def _learn(self, trial: FrozenTrial) -> None:
        given = self._given.pop(trial.number, None)
        self._told.pop(trial.number, None)
        if self._strategy.draw is not None:
            self._strategy.draw.hear(trial)
        heard = self.goal.heard(trial)
        if heard is not None:
            self._know(*heard)
        elif given is not None:
            if given in self._lost:
                self._know(given, _LOST)
            self._lost.add(given)

    @property
    def _over(self) -> bool:
        """Whether nothing is to come of a search any more."""
        steps = self._steps
        if self._next or steps is None:
            return False
        return not steps.ready(self._under_way) and steps.ended

    def _know(self, point: Point, result: Result) -> None:
        found = judged(result, self.goal.limits)
        if self._known.result(point) == found:
            return
        self._known.learn(point, found)
        if self._near is not None:
            self._teach(self._near, point, found)

    def _teach(self, near: Nearby, point: Point, result: Result) -> None:
        near.learn(point, self.goal.values(result) if result.status is Status.OK else None)

    # --------------------------------------------------------------------------------- what is next

    def _chosen(self, study: Study, trial: FrozenTrial) -> Point | None:
        if self._next:
            return self._next.popleft()
        if self._steps is not None and (point := self._steps.next(self._under_way)) is not None:
            return point
        if self._strategy.draw is not None:
            asking = Asking(self._sampler, study, trial)
            return self._strategy.draw.point(asking, self._nearby(), self._random)
        if self._steps is None or self._steps.ended:
            return None
        return self._nearby().anywhere()  # several trials at once, where a search waits for one

    def _nearby(self) -> Nearby:
        if self._near is None:
            self._near = Nearby(self.goal.space, self.goal.budget, self._random)
            for point, result in self._known:
                self._teach(self._near, point, result)
            for point in (*self._given.values(), *self._elsewhere.values()):
                self._near.take(point)
        return self._near


def _stop(study: Study) -> None:
    """Stop it after the trial, where it is being optimized; else its trials are asked for one by one."""
    with suppress(RuntimeError):
        study.stop()


class _Answers:
    """Answers what a trial would ask for a point, and keeps what was asked."""

    def __init__(self, values: Mapping[str, int]) -> None:
        self.values = values
        self.told: dict[str, tuple[int, IntDistribution]] = {}

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """The point's value."""
        self.told[name] = (self.values[name], IntDistribution(low, high, log=log))
        return self.values[name]


def _told(point: Point, space: Space) -> dict[str, tuple[int, IntDistribution]]:
    """The parameters of a point."""
    answers = _Answers(parameters(point, space))
    sampled_point(answers, space, shared=True)
    return answers.told


def _mixed(seed: int, trials: int) -> int:
    """The seed of what goes on with a study of so many trials."""
    return Random(f"{seed}:{trials}").getrandbits(32)
