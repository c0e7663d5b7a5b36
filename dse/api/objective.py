"""A study of one's own: the objective of a kernel for Optuna, and the strategies as samplers for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dse.evaluators.base import Request, Result, Status, judged
from dse.libraries import optuna_library
from dse.run.folder.codec import point_from_json, point_to_json, result_from_json, result_to_json
from dse.run.search.options import Searched, limits_of, objectives_of, one_of
from dse.run.studies.study import constraints_of, objective_values
from dse.samplers.strategies import space_sampler
from dse.space.memory.partitions import NO_PARTITION
from dse.space.space import Point, space_of
from dse.strategies.names import STRATEGIES
from dse.strategies.sampled import has_point, sampled_point
from dsl.errors.errors import InputError
from dsl.errors.shown import shown
from dsl.kernels.call_arguments import check_call
from dsl.kernels.kernel import Kernel, schedule_of
from dsl.schedules.schedule import Schedule

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial, Trial

    from dse.samplers.space_sampler import Goal, SpaceSampler

_ATTRIBUTE = "weft"  # of a trial: its point, and what came of it


class Objective:
    """What designs of a kernel take, as a function that Optuna makes small.

    A trial suggests a design, which is evaluated in this process: its structure (``variant``), the order
    of the loops of each nest (``0.S0.order``), and for each loop the place of its unroll factor in the
    list of those worth trying (``0.S0.1.i``). Limits are told as constraints (`Trial.set_constraint`).
    A trial is pruned where its design cannot be built, or the evaluator gives no figures for it.

    Attributes:
        names: of the objectives, in the order of the values: latency (cycles) or seconds first.
    """

    def __init__(
        self,
        kernel: Kernel,
        size: str | None = None,
        *,
        schedule: Schedule | str | None = None,
        fix: Sequence[str] = (),
        device: str = "xczu9eg",
        clock: float = 10.0,
        tool: str | None = None,
        objectives: Sequence[str] = ("latency", "dsp"),
        dsp: int | None = None,
        share: float | None = None,
        limits: Mapping[str, int | str] | None = None,
        max_latency: float | None = None,
        reassociate: bool = False,
        evaluator: str = "model",
        weights: str | Path | None = None,
    ) -> None:
        """Nothing is evaluated yet.

        Args:
            kernel: A kernel.
            size: As for `weft.compile`.
            schedule: That designs begin with, as for `weft.explore`.
            fix: What of it, as for `weft.explore`.
            device: The device that designs are made for.
            clock: The target period in ns.
            tool: The version whose figures count; None for the one that was measured on the device.
            objectives: What to make small: latency (or seconds), dsp, lut, ff, bram18.
            dsp: Slices that a design may use; None for the device's.
            share: Of the device's resources that a design may use, as for `weft.explore`.
            limits: By resource, a number or a part of the device's like ``"20%"``.
            max_latency: In cycles; slower designs are of no use.
            reassociate: Allow reductions to be done in any order.
            evaluator: Whose figures count: ``model`` or ``gnn``.
            weights: The file of the predictor; None for the one that comes with Weft.

        Raises:
            WeftError: as `weft.explore`.
        """
        check_call(
            "Objective", kernel=kernel, size=size, device=device, clock=clock, tool=tool,
            folder=weights, optional=("size", "tool", "folder"),
        )  # fmt: skip
        wanted = Searched(
            device=device, clock=clock, tool=tool, objectives=objectives, dsp=dsp, share=share,
            limits=limits or {}, max_latency=max_latency, reassociate=reassociate,
            evaluator=evaluator, weights=None if weights is None else Path(weights),
            schedule=schedule_of(kernel, schedule), fix=fix,
        )  # fmt: skip
        self.names = objectives_of(objectives)
        self._where = wanted.where
        self._clock = clock
        self._tool = wanted.asked(self._where)
        self._limits = limits_of(self._where.device, share, dsp, limits or {}, max_latency)
        self._evaluator = wanted.chosen_evaluator(self._where)
        program = kernel.at(size).program
        start = wanted.start(program)
        bram18 = self._limits.most("bram18", self._where.device.bram18)
        self._space = space_of(program, self._where.tool, reassociate, start=start, bram18=bram18)

    @property
    def directions(self) -> list[str]:
        """Of a study with these objectives."""
        return ["minimize"] * len(self.names)

    def __call__(self, trial: Trial) -> tuple[float, ...]:
        """Evaluate the design that a trial suggests.

        Args:
            trial: of a study with these `directions`.

        Returns:
            The values of the objectives.

        Raises:
            optuna.TrialPruned: there are no figures: `result` says why.
        """
        point = sampled_point(trial, self._space, shared=True)
        result = judged(self._evaluated(point), self._limits)
        kept = {"point": point_to_json(point), "result": result_to_json(result)}
        trial.set_user_attr(_ATTRIBUTE, kept)
        for name, over in constraints_of(result, self._limits).items():
            trial.set_constraint(name, over)
        values = self._values(result)
        if values is None:
            raise optuna_library(quiet=False).TrialPruned(result.detail)
        return values

    def _evaluated(self, point: Point) -> Result:
        schedule = self._space.schedule(point)
        if schedule is None:
            return Result(Status.INFEASIBLE, detail=NO_PARTITION)
        request = Request(
            self._space.program, schedule, self._where.device, self._clock, self._tool,
            self._where.tool.calibration,
        )  # fmt: skip
        return self._evaluator.evaluate(request)

    def _values(self, result: Result) -> tuple[float, ...] | None:
        return objective_values(result, self.names, self._clock)

    def result(self, trial: Trial | FrozenTrial) -> Result:
        """What came of a trial: its status, latency (cycles), resources, and where these are from.

        Raises:
            InputError: W509 it is not a trial of this objective.
        """
        return self._of(trial)[1]

    def schedule(self, trial: Trial | FrozenTrial) -> Schedule | None:
        """The schedule of a trial's design, for `weft.compile` and all others; None where there is none.

        Raises:
            InputError: W509 it is not a trial of this objective.
        """
        return self._space.schedule(self._of(trial)[0])

    def _of(self, trial: Trial | FrozenTrial) -> tuple[Point, Result]:
        found = self._heard(trial)
        if found is None:
            what = f"trial {trial.number}" if hasattr(trial, "number") else shown(trial)
            raise InputError("W509", f"{what} is not one of this objective, or has no end",
                             help="name one of study.trials that was evaluated")  # fmt: skip
        return found

    def _heard(self, trial: Any) -> tuple[Point, Result] | None:
        try:
            kept = trial.user_attrs[_ATTRIBUTE]
            point, result = point_from_json(kept["point"]), result_from_json(kept["result"])
        except (LookupError, TypeError, ValueError, AttributeError):
            return None
        return (point, result) if has_point(self._space, point) else None

    @property
    def goal(self) -> Goal:
        """What a sampler searches."""
        from dse.samplers.space_sampler import Goal

        budget = self._limits.resources.get("dsp", self._where.device.dsp)
        return Goal(self._space, budget, self._limits, self._values, self._heard)


def sampler(objective: Objective, strategy: str = "auto", seed: int = 0) -> SpaceSampler:
    """A strategy of ``weft explore`` as a sampler for a study of one's own.

    Each point is tried once. All that the sampler goes by is in the study, so another process goes on
    with a study that was begun elsewhere by a sampler of its own. A study that is being optimized stops
    when the strategy has no more points.

    Args:
        objective: of the study.
        strategy: As ``weft explore --strategy``.
        seed: Of its random numbers: the same seed and the same results give the same points.

    Raises:
        InputError: W509 there is no such strategy; W523, W528 a library is not installed; W524 the
            space has too many points for ``exhaustive``.
    """
    if not isinstance(objective, Objective):
        raise InputError("W509", f"objective of weft.sampler is {shown(objective)}",
                         help="it is a weft.Objective")  # fmt: skip
    check_call("sampler", seed=seed)
    one_of("strategy", strategy, STRATEGIES)
    return space_sampler(objective.goal, strategy, seed)
