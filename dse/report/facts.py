"""All that the report of a run shows, gathered from the run's folder alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from dse.evaluators.base import Limits, Result, Status, judged
from dse.evaluators.fidelities import RESOURCES
from dse.report.axes import Axis, Value, axes, choices
from dse.run.folder.directory import RunDirectory
from dse.run.folder.problem import Problem, problem_of
from dse.run.results.front import Design, designs, front, limits_of, over
from dse.run.results.history import Recorded, ending, history
from dse.space.memory.partitions import NO_PARTITION
from dsl.errors.errors import InputError
from dsl.schedules.schedule import Schedule

DRAWN = 2_500  # designs in the charts; more are thinned out
TOLD = 120  # designs with their schedule and loops
_FASTEST = 20  # of those not on the front
_REASONS = 12
_SHARE = re.compile(r" by \d+%")  # how far over a limit: alike for the count


@dataclass(frozen=True, slots=True)
class Told:
    """A design as the report has it.

    Attributes:
        key: of the design.
        result: judged by the run's limits.
        trial: the first that it was evaluated in; None where no trial says so.
        front: on the Pareto front.
        schedule: None where there is none that can be read.
        chosen: what the schedule chooses.
        over: by how much it exceeds the limit that it exceeds most, relative to it.
        promoted: what costlier evaluators found of it, by their names.
    """

    key: str
    result: Result
    trial: int | None
    front: bool
    schedule: Schedule | None
    chosen: Mapping[Axis, Value] = field(hash=False)
    over: float = 0.0
    promoted: Mapping[str, Result] = field(default_factory=dict, hash=False)

    @property
    def feasible(self) -> bool:
        """Whether it keeps to the limits, and no costlier evaluator found it to be wrong."""
        return self.result.status is Status.OK and not self.wrong

    @property
    def wrong(self) -> str:
        """Who found it to be wrong, and why; empty where nobody did."""
        found = (f"wrong by {n}: {r.detail}" for n, r in self.promoted.items() if r.refuted)
        return ", ".join(found)

    @property
    def cycles(self) -> float:
        """Its latency."""
        return self.result.latency or 0.0


@dataclass(frozen=True, slots=True)
class Facts:
    """A run, ready to be shown.

    Attributes:
        path: of the run's folder, as it was given.
        manifest: of the run.
        ending: see `dse.run.results.history.ending`.
        problem: None for runs that kept none.
        limits: that designs keep to.
        trials: in their order.
        figures: key to latency of every design that has one.
        statuses: of the trials, and how many there are of each.
        failures: status and one-line reason of points without figures to their number.
        feasible: how many designs keep to the limits.
        fronts: the front, fastest first.
        drawn: designs for the charts, the front first; see `DRAWN`.
        designs: how many have figures.
        axes: in which those drawn differ.
    """

    path: str
    manifest: Mapping[str, Any]
    ending: str
    problem: Problem | None
    limits: Limits
    trials: tuple[Recorded, ...]
    figures: Mapping[str, float]
    statuses: Mapping[str, int]
    failures: tuple[tuple[str, str, int], ...]
    feasible: int
    fronts: tuple[Told, ...]
    drawn: tuple[Told, ...]
    designs: int
    axes: tuple[Axis, ...]

    @property
    def best(self) -> Told | None:
        """The fastest design within the limits."""
        return self.fronts[0] if self.fronts else None

    @property
    def told(self) -> tuple[Told, ...]:
        """Designs that are shown with all there is to them: the front, then the fastest others."""
        others = [d for d in self.drawn if not d.front]
        others.sort(key=lambda d: (not d.feasible, d.over, d.cycles))
        few = others if len(self.drawn) <= TOLD else others[:_FASTEST]
        return (*self.fronts[:TOLD], *few)


def facts_of(run: RunDirectory) -> Facts:
    """Gather what a run's folder holds.

    Raises:
        InputError: W523 Optuna is not installed.
    """
    trials = history(run)
    problem = problem_of(run)
    limits = limits_of(run)
    results = _results(run)
    within = designs(run)
    best = front([d for d in within if d.key in results])
    first = _first(trials)
    judgements = {key: judged(result, limits) for key, result in results.items()}
    figures = {key: r.latency for key, r in judgements.items() if r.latency is not None}
    shown = _thinned(tuple(figures), best, first, figures)
    fronts = {d.key for d in best}
    drawn = tuple(
        _told(run, key, judgements[key], first.get(key), key in fronts, problem, limits)
        for key in shown
    )
    return Facts(
        str(run.path),
        run.manifest,
        ending(run),
        problem,
        limits,
        trials,
        figures,
        dict(Counter(t.status for t in trials).most_common()),
        _failures(trials, judgements),
        len(within),
        tuple(d for d in drawn if d.front),
        drawn,
        len(figures),
        axes([d.chosen for d in drawn if d.schedule is not None]),
    )


def _results(run: RunDirectory) -> dict[str, Result]:
    found = {}
    for key in run.point_keys():
        result = run.result(key)
        if result is not None and (result.latency is None or isfinite(result.latency)):
            found[key] = result
    return found


def _first(trials: Sequence[Recorded]) -> dict[str, int]:
    """The trial that each design was first evaluated in."""
    found: dict[str, int] = {}
    for trial in trials:
        if trial.key:
            found.setdefault(trial.key, trial.number)
    return found


def _thinned(
    keys: Sequence[str],
    best: Sequence[Design],
    first: Mapping[str, int],
    figures: Mapping[str, float],
) -> list[str]:
    """Keys of the designs to draw: the front, the fastest, and of the rest every so many."""
    found = dict.fromkeys(d.key for d in best)
    found |= dict.fromkeys(sorted(keys, key=lambda k: (figures[k], k))[: DRAWN // 5])
    rest = sorted((k for k in keys if k not in found), key=lambda k: (first.get(k, 0), k))
    room = max(1, DRAWN - len(found))
    return [*found, *rest[:: max(1, -(-len(rest) // room))]]


def _told(
    run: RunDirectory,
    key: str,
    result: Result,
    trial: int | None,
    on_front: bool,
    problem: Problem | None,
    limits: Limits,
) -> Told:
    promoted = run.promoted(key)
    excess = over(result, limits)
    try:
        schedule = run.schedule(key)
    except InputError:  # torn or edited: the figures are still worth showing
        return Told(key, result, trial, on_front, None, {}, excess, promoted)
    extents = problem.extents if problem else {}
    shapes = problem.shapes if problem else {}
    chosen = choices(schedule, extents, shapes)
    return Told(key, result, trial, on_front, schedule, chosen, excess, promoted)


def _failures(
    trials: Sequence[Recorded], judgements: Mapping[str, Result]
) -> tuple[tuple[str, str, int], ...]:
    """Statuses of trials that are neither ``ok`` nor repeated, with their reasons, commonest first."""
    counts: Counter[tuple[str, str]] = Counter()
    for trial in trials:
        if trial.status in ("ok", "duplicate", "running"):
            continue
        result = judgements.get(trial.key)
        reason = _SHARE.sub("", result.detail) if result else ""
        if not trial.key and trial.status == "infeasible":
            reason = NO_PARTITION  # of older runs
        counts[trial.status, reason] += 1
    return tuple((*what, count) for what, count in counts.most_common(_REASONS))


def resources_of(facts: Facts) -> tuple[str, ...]:
    """The resources that any design has a figure for."""
    return tuple(n for n in RESOURCES if any(n in d.result.resources for d in facts.drawn))


def told_apart_by(facts: Facts, names: tuple[str, ...]) -> str | None:
    """The first of some resources of which not all designs have as much, those that the search made small before the
    others; the first one where there is none.
    """
    small = facts.manifest["objectives"]
    ranked = sorted(names, key=lambda name: name not in small)
    found = (n for n in ranked if len({d.result.resources.get(n) for d in facts.drawn}) > 1)
    return next(found, ranked[0] if ranked else None)
