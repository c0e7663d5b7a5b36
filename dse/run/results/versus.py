"""Two runs against each other: fronts by the same objectives, budgets, who beats whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dse.run.folder.directory import RunDirectory
from dse.run.results.front import Design, designs, front
from dse.run.studies.study import objective_values
from qor_gnn.result.pareto import dominates, hypervolume

BUDGETS = 14  # in the table of the best design at each; more are thinned out


@dataclass(frozen=True, slots=True)
class AtBudget:
    """The least first objective within a budget of the second; None where nothing fits."""

    budget: float
    a: Design | None
    b: Design | None


@dataclass(frozen=True, slots=True)
class Joint:
    """A design that no other of either run beats.

    Attributes:
        design: with its values.
        runs: ``a``, ``b`` or both, where both have one of these values.
        beats: designs on the other run's front that it is better than, by their keys.
    """

    design: Design
    runs: tuple[str, ...]
    beats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Versus:
    """What can be said of two runs.

    Attributes:
        objectives: that both are compared by, all to be small, the first is time.
        a, b: their fronts by these.
        count: designs within the limits of each run.
        volumes: hypervolumes, shares of the box up to the worst figure of either front.
        budgets: the best of each run; empty where there is one objective alone.
        joint: the front of both together, the fastest first.
        beaten: of each front, the designs that one of the other is better than.
        provenances: where the figures of each run come from.
    """

    objectives: tuple[str, ...]
    a: tuple[Design, ...]
    b: tuple[Design, ...]
    count: tuple[int, int]
    volumes: tuple[float, float]
    budgets: tuple[AtBudget, ...]
    joint: tuple[Joint, ...]
    beaten: tuple[int, int]
    provenances: tuple[tuple[str, ...], tuple[str, ...]]


def versus(a: RunDirectory, b: RunDirectory) -> Versus:
    """Compare what two runs have found."""
    objectives = common(a, b)
    found = [_by(run, objectives) for run in (a, b)]
    one, two = (front(designs) for designs in found)
    points = [[d.values for d in f] for f in (one, two)]
    worst = tuple(map(max, zip(*points[0], *points[1], strict=True)))
    volumes = (hypervolume(points[0], worst), hypervolume(points[1], worst))
    beaten = (_beaten(one, two), _beaten(two, one))
    sources = [tuple(sorted({_source(d) for d in f})) for f in found]
    return Versus(
        objectives, one, two, (len(found[0]), len(found[1])), volumes,
        _budgets(one, two) if len(objectives) == 2 else (), _joint(one, two), beaten,
        (sources[0], sources[1]),
    )  # fmt: skip


def common(a: RunDirectory, b: RunDirectory) -> tuple[str, ...]:
    """What both runs can be compared by: time, and the resources that both made small.

    Time is in cycles where both have the same clock, else in seconds.
    """
    theirs = b.manifest["objectives"]
    same = a.manifest["clock_ns"] == b.manifest["clock_ns"]
    times = {a.manifest["objectives"][0], theirs[0]}
    time = "latency" if same and times != {"seconds"} else "seconds"
    return (time, *(name for name in a.manifest["objectives"][1:] if name in theirs[1:]))


def _by(run: RunDirectory, objectives: Sequence[str]) -> list[Design]:
    """The run's designs with the values of other objectives than its own."""
    clock = run.manifest["clock_ns"]
    found = ((d, objective_values(d.result, objectives, clock)) for d in designs(run))
    return [replace(d, values=values) for d, values in found if values is not None]


def _source(design: Design) -> str:
    return f"{design.result.provenance}: {design.result.tool}"


def _beaten(mine: Sequence[Design], theirs: Sequence[Design]) -> int:
    return sum(any(dominates(other.values, d.values) for other in theirs) for d in mine)


def _joint(a: Sequence[Design], b: Sequence[Design]) -> tuple[Joint, ...]:
    found: list[Joint] = []
    for design in front([*a, *b]):
        runs = tuple(
            name
            for name, its in (("a", a), ("b", b))
            if any(d.values == design.values for d in its)
        )
        others = [*(b if "a" in runs else ()), *(a if "b" in runs else ())]
        found.append(
            Joint(design, runs, tuple(d.key for d in others if dominates(design.values, d.values)))
        )
    return tuple(found)


def _budgets(a: Sequence[Design], b: Sequence[Design]) -> tuple[AtBudget, ...]:
    """The best of each run at the budgets at which either has a design, some of them if many."""
    every = sorted({d.values[1] for d in (*a, *b)})
    step = max(1, -(-len(every) // BUDGETS))
    some = sorted(set(every[len(every) - 1 :: -step])) if every else []
    return tuple(AtBudget(budget, _best(a, budget), _best(b, budget)) for budget in some)


def _best(found: Sequence[Design], budget: float) -> Design | None:
    return min((d for d in found if d.values[1] <= budget), key=lambda d: d.values, default=None)
