"""How well points are chosen: against all points of small spaces, and against plain samplers.

Rows `KERNEL/exhaustive`: every point of a small space (all sums in DSP slices) is evaluated; ``adrs_pct`` is how far the front
of the default strategy is from the true one (mean over the points of the true front of the least
``max`` of relative losses in latency and DSP, in percent) after so many evaluations as two percent
of the points. Rows `KERNEL/equal-budget`: the hypervolume that the default strategy dominates over the
largest median, of five seeds, of Optuna's TPE, NSGA-II and random sampling at as many evaluations;
the volume is taken of the logarithms of latency and DSP, from the unscheduled design to the DSP cap.
For these a point whose estimated DSP is over the cap is free: it is never evaluated.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

import weft
from backends.devices import device
from benchmarks._row import Goal, Row, say
from dse.evaluators.base import Limits, Request, Result, Status, device_limits, judged
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.libraries import optuna_library
from dse.samplers.optunas import sampler
from dse.space.space import Point, Space, space_of
from dse.strategies.auto import opening
from dse.strategies.estimates import Estimates
from dse.strategies.names import Sampler
from dse.strategies.sampled import all_points, sampled_point
from dse.strategies.search import evaluated
from dsl.programs.program import Program
from qor_gnn.result import pareto
from qor_gnn.result.pareto import hypervolume

NAME = "dse_quality"
MODEL = "model"
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
DEVICE, CLOCK = "xcu280", 3.33
SHARE = 0.02
SEEDS = 5
EVALUATIONS = 150  # three generations of NSGA-II, of which the first is random
PART = 4  # of a small space no more than one point in so many, or everybody finds all there is
RIVALS: tuple[Sampler, ...] = ("random", "tpe", "nsga2")
_FREE = 50  # points in a row that are over the cap before a sampler has to take one

Figures = tuple[float, float]


@dataclass(frozen=True)
class Small:
    """A space that is small enough to be enumerated."""

    kernel: str
    sizes: Mapping[str, int]
    copies: int  # of a nest, at most


ENUMERATED = (
    Small("gemm", {"NI": 12, "NJ": 10, "NK": 14}, 8),
    Small("bicg", {"M": 38, "N": 42}, 3),
    Small("jacobi_2d", {"TSTEPS": 20, "N": 30}, 64),
    Small("k2mm", {"NI": 16, "NJ": 18, "NK": 22, "NL": 24}, 2),
)
# Spaces of the samplers: PolyBench's smallest sizes, and DSP that is enough for some tens of copies.
SAMPLED = ("gemm", "atax", "bicg", "gesummv", "mvt", "k2mm", "k3mm", "jacobi_2d", "syrk")
SAMPLED_CAP = 220


@dataclass(frozen=True)
class Setting:
    """A space with what its points are judged by."""

    program: Program
    space: Space
    limits: Limits
    cap: int

    def evaluate(self, point: Point) -> Result:
        """The model's figures."""
        schedule = self.space.schedule(point)
        if schedule is None:
            return Result(Status.INFEASIBLE, detail="banks")
        request = Request(self.program, schedule, device(DEVICE), CLOCK)
        return judged(ModelEvaluator().evaluate(request), self.limits)


def setting(
    kernel: str, sizes: Mapping[str, int] | str, cap: int, *, logic: bool = True
) -> Setting:
    """A kernel at a size, on U280; ``logic``: with the variants that build sums of logic."""
    found = weft.load(f"{EXAMPLES}/polybench/{kernel}.py:{kernel}")
    program = (found.at(sizes) if isinstance(sizes, str) else found.at(**sizes)).program
    chip = device(DEVICE)
    tool = personality_for(chip, CLOCK)
    if not logic:
        tool = replace(tool, library=replace(tool.library, implementations={}))
    space = space_of(program, tool, reassociate=True)
    return Setting(program, space, device_limits(chip, dsp=cap), cap)


def figures(result: Result) -> Figures | None:
    """Latency and DSP of what keeps to the limits."""
    if result.status is not Status.OK or result.latency is None:
        return None
    return result.latency, float(result.resources["dsp"])


def front(found: list[Figures]) -> list[Figures]:
    """Those that no other is at least as good as, the fastest first."""
    return pareto.front(found, lambda one: one)


def adrs(right: list[Figures], found: list[Figures]) -> float:
    """Mean distance of the true front from what was found, relative."""

    def loss(one: Figures, other: Figures) -> float:
        return max(0.0, other[0] / one[0] - 1, (other[1] - one[1]) / max(1.0, one[1]))

    return statistics.fmean(min(loss(one, other) for other in found) for one in right)


# ------------------------------------------------------------------------------------- enumerated


def exhaustive_rows(small: Small) -> Iterator[Row]:
    """One kernel against all points of its space."""
    cap = device(DEVICE).dsp
    where = setting(small.kernel, small.sizes, cap, logic=False)
    points = list(all_points(where.space, small.copies))
    say(f"{small.kernel}: all {len(points):,} points")
    known = {point: where.evaluate(point) for point in points}
    right = front([f for r in known.values() if (f := figures(r)) is not None])
    allowed = int(SHARE * len(points))
    asked: dict[Point, Result] = {}

    def evaluate(point: Point) -> Result:
        found = known.get(point)
        asked[point] = where.evaluate(point) if found is None else found
        return asked[point]

    for _ in evaluated(opening(where.space, cap, where.limits, small.copies), evaluate):
        if len(asked) >= allowed:
            break
    found = front([f for p, r in asked.items() if p in known and (f := figures(r)) is not None])
    case = f"{small.kernel}/exhaustive"
    yield Row(NAME, case, "points", len(points), "points", Goal("<=", 50_000), MODEL, 1)
    yield Row(
        NAME, case, "evaluated_pct", 100 * len(asked) / len(points), "%", Goal("<=", 2), MODEL, 1
    )
    yield Row(
        NAME, case, "adrs_pct", 100 * adrs(right, found), "%", Goal("<=", 1), MODEL, len(asked)
    )


# ------------------------------------------------------------------------------------ equal budget


def equal_budget_rows(kernel: str, seeds: int = SEEDS) -> Iterator[Row]:
    """One kernel against plain samplers."""
    where = setting(kernel, "mini", SAMPLED_CAP)
    plain = figures(where.evaluate(where.space.plain(_written(where.space))))
    worst = (plain or (1e12, 0.0))[0]
    known: dict[Point, Result] = {}

    def evaluate(point: Point) -> Result:
        if point not in known:
            known[point] = where.evaluate(point)
        return known[point]

    budget = min(EVALUATIONS, where.space.size // PART)
    mine = _default(where, evaluate, budget)
    ours = _volume(mine, worst)
    medians = {}
    for name in RIVALS:
        runs = [_sampled(where, evaluate, name, seed, budget) for seed in range(seeds)]
        medians[name] = statistics.median(_volume(run, worst) for run in runs)
    say(f"{kernel}: {ours:.4f} against {', '.join(f'{n} {v:.4f}' for n, v in medians.items())}")
    ratio = ours / max(medians.values())
    case = f"{kernel}/equal-budget"
    yield Row(NAME, case, "hypervolume_ratio", ratio, "1", Goal(">=", 1), MODEL, seeds)


def _written(space: Space) -> int:
    """The number of the variant that is nearest to the program as written."""
    names = [variant.name for variant in space.variants]
    return names.index("as written") if "as written" in names else 0


def _volume(found: list[Figures], worst: float) -> float:
    """Of the logarithms of latency and DSP, in shares of those of the worst."""
    scaled = [(log(max(1.0, c)), log(1 + d)) for c, d in front(found)]
    return hypervolume(scaled, (log(worst), log(1 + SAMPLED_CAP)))


def _default(where: Setting, evaluate: Callable[[Point], Result], budget: int) -> list[Figures]:
    """What the default strategy finds in so many evaluations."""
    asked: dict[Point, Result] = {}

    def noted(point: Point) -> Result:
        asked[point] = evaluate(point)
        return asked[point]

    for _ in evaluated(opening(where.space, where.cap, where.limits), noted):
        if len(asked) >= budget:
            break
    return [f for r in asked.values() if (f := figures(r)) is not None]


def _sampled(
    where: Setting, evaluate: Callable[[Point], Result], name: Sampler, seed: int, budget: int
) -> list[Figures]:
    """What one of Optuna's samplers finds in so many evaluations."""
    library = optuna_library()
    library.logging.set_verbosity(library.logging.ERROR)
    study = library.create_study(directions=["minimize", "minimize"], sampler=sampler(name, seed))
    estimates = Estimates(where.space)
    found: list[Figures] = []
    evaluated = free = 0
    while evaluated < budget:
        trial = study.ask()
        point = sampled_point(trial, where.space)
        if estimates.figures(point).dsp > where.cap and free < _FREE:
            free += 1
            study.tell(trial, state=library.trial.TrialState.FAIL)
            continue
        free = 0
        evaluated += 1
        result = evaluate(point)
        over = where.limits.excess(result)
        for resource in ("dsp", "lut"):
            trial.set_constraint(resource, over.get(resource, -1.0))
        one = figures(result)
        if one is not None:
            found.append(one)
        if result.latency is None:
            study.tell(trial, state=library.trial.TrialState.FAIL)
        else:
            study.tell(trial, [result.latency, float(result.resources["dsp"])])
    return found
