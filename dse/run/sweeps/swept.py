"""Carrying out a search over clocks: a run for each period, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dse.run.folder.directory import RunDirectory
from dse.run.folder.plan import Plan
from dse.run.folder.problem import Problem
from dse.run.search.exploration import carry_out
from dse.run.search.explore import Heard
from dse.run.search.options import ExploreOptions
from dse.run.sweeps.clocks import checked_range, latencies_of, periods
from dse.run.sweeps.sweep import Sweep, begun, count_of, handed, shares
from dsl.programs.program import Program


@dataclass(frozen=True, slots=True)
class Hearing:
    """Who hears of a search over clocks.

    Attributes:
        listening: for a run, its problem and its trials, who is told of progress.
        begins: told of a period in ns, its trials and its folder.
        ended: told of each run that has ended.
    """

    listening: Callable[[Plan, Problem, int], AbstractContextManager[Heard]]
    begins: Callable[[float, int, Path], None]
    ended: Callable[[RunDirectory], object]


@dataclass(frozen=True, slots=True)
class Swept:
    """A search over clocks that has ended; ``stopped`` by the user."""

    sweep: Sweep
    stopped: bool


def swept(
    folder: Path,
    clock: tuple[float, float],
    options: Callable[[float], ExploreOptions],
    plan: Callable[[ExploreOptions], Plan],
    program: Program,
    hearing: Hearing,
    *,
    resume: bool,
) -> Swept:
    """Search at each of a few clocks, each run with a share of the trials.

    Args:
        folder: of the search.
        clock: the range in ns.
        options: of the run at a period; its trials are those of all runs.
        plan: of a run.
        program: of the kernel.
        hearing: who is told.
        resume: go on with the search in the folder.

    Raises:
        InputError: W405 the range is none; W508, W521, W525, W527 for the folder; as `carry_out`.
    """
    low, high = checked_range(*clock)
    asked = options(low)

    def chosen() -> tuple[float, ...]:
        latencies = latencies_of(program, lambda ns: replace(asked, clock=ns).where.tool)
        return periods(latencies, low, high, count_of(asked.trials))

    sweep = begun(folder, low, high, chosen, resume=resume)
    for period, trials in zip(sweep.periods, shares(asked.trials, len(sweep.periods)), strict=True):
        path, at = sweep.run(period), options(period)
        hearing.begins(period, trials, path)
        means = replace(at.means, trials=trials, first=handed(sweep, period))
        of_run = in_time(plan(at))
        listening = partial(_listening, hearing, of_run, trials)
        carried = carry_out(path, of_run, means, listening, resume=resume and path.is_dir())
        hearing.ended(carried.run)
        if carried.ended.stopped:
            return Swept(sweep, stopped=True)
    return Swept(sweep, stopped=False)


def _listening(
    hearing: Hearing, plan: Plan, trials: int, problem: Problem
) -> AbstractContextManager[Heard]:
    return hearing.listening(plan, problem, trials)


def in_time(plan: Plan) -> Plan:
    """The plan with time as the first objective, instead of cycles."""
    others = [name for name in plan.objectives if name not in ("latency", "seconds")]
    return replace(plan, objectives=("seconds", *others))
