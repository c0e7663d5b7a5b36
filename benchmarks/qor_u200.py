"""Rows `u200/KERNEL` of the QoR model: Vitis HLS 2025.1 on xcu200 at 4 ns, automatic directives.

A fixed random part of the rows of each expressible kernel of `hlsfactory-u200` is estimated. No
rule is keyed on a kernel and no coefficient is fitted, but the rules were found by looking at
these kernels (docs/lab/u200.md). The tool charges variable trip counts at their maximum, so its
latency is compared with `Cycles.maximum`.

Left out as faulty are reports that say that unrolling a loop partly, u times instead of u' times,
made the whole design more than 50 u / u' times faster: the tool has lost the loop (`faulty`; 7 rows,
all of adi with L6 unrolled 32 times). They are listed as they are left out.

`u200/read`: all of the part of the kernels that rules are read from (`qor_gnn.fit.labelled.parts`).

`u200/feasibility`: the share of pairs of a point with a report and one without (``noresult``), with
one over the caps (``overcap``), with any of both, that `qor_gnn.fit.feasibility` orders rightly (AUC).
"""

from __future__ import annotations

import random
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._row import Goal, Row, median, say
from qor_gnn.design.directives import with_directives
from qor_gnn.estimate import estimate
from qor_gnn.fit.feasibility import feasibility
from qor_gnn.fit.labelled.parts import part_of
from qor_gnn.fit.labelled.u200 import (
    CLOCK_NS,
    DEVICE,
    TOOL,
    Facts,
    NoResult,
    designs,
    kernels,
    without_labels,
)
from qor_gnn.fit.labelled.u200 import Row as Design
from qor_gnn.fit.labelled.u200_design import Directives, plain, written
from qor_gnn.fit.labelled.u200_program import Converted, convert
from qor_gnn.fit.labelled.u200_usable import usable

NAME = "qor_model"
PERSONALITY = "vitis-2025.1-u200-4ns"
SOURCE = f"{TOOL} csynth, {DEVICE}, {CLOCK_NS} ns; a random part of the rows"
EACH, QUICK = 40, 2  # designs of a kernel
QUICK_SHARE = 20  # one of so many points, for feasibility
GOALS = {
    "latency_mape_pct": Goal("<=", 10),
    "latency_median_ape_pct": Goal("<=", 2),
    "dsp_mape_pct": Goal("<=", 10),
    "bram_exact_pct": Goal(">=", 85),
}


@dataclass(frozen=True)
class Errors:
    """Of one design, relative to its labels; no DSP error where the label is 0."""

    latency: float
    dsp: float | None
    same_bram: bool


def u200_rows(folder: Path, quick: bool) -> Iterator[Row]:
    """Errors of each kernel and of all, with the goals."""
    found: list[Errors] = []
    read: list[Errors] = []
    for facts, converted, mine in usable(folder, say):
        part = random.Random(0).sample(mine, min(len(mine), QUICK if quick else EACH))
        errors = kernel_errors(facts, converted, part)
        found += errors
        read += errors if part_of(facts.kernel) == "read" else []
        yield from error_rows(f"u200/{facts.kernel}", errors, {})
    yield from error_rows("u200/read", read, {})
    yield from error_rows("u200/all", found, GOALS)
    yield from feasibility_rows(folder, quick)


def kernel_errors(facts: Facts, kernel: Converted, rows: Sequence[Design]) -> list[Errors]:
    """The model's errors on designs of one kernel."""
    structure, kept = plain(kernel), written(facts, kernel)
    errors = []
    for row in rows:
        design = with_directives(structure, Directives.parse(row.directives).pragmas)
        found = estimate(design, PERSONALITY, kept=kept)
        labels = row.labels
        latency = abs(found.latency.maximum / labels.latency - 1)
        dsp = abs(found.dsp / labels.dsp - 1) if labels.dsp else None
        errors.append(Errors(latency, dsp, found.bram18 == labels.bram18))
    return errors


def error_rows(case: str, errors: Sequence[Errors], goals: dict[str, Goal]) -> Iterator[Row]:
    """The four figures of some designs."""
    if not errors:
        return
    latency = [100 * e.latency for e in errors]
    values = {
        "latency_mape_pct": statistics.fmean(latency),
        "latency_median_ape_pct": median(latency),
        "dsp_mape_pct": 100 * statistics.fmean([e.dsp for e in errors if e.dsp is not None]),
        "bram_exact_pct": 100 * statistics.fmean([e.same_bram for e in errors]),
    }
    for metric, value in values.items():
        yield Row(NAME, case, metric, value, "%", goals.get(metric), SOURCE, len(errors))


# ----------------------------------------------------------------------------------- feasibility


def feasibility_rows(folder: Path, quick: bool) -> Iterator[Row]:
    """How well the score tells points with a report from those without, or over the caps."""
    structures = {}
    for name, facts in kernels(folder).items():
        converted = convert(facts)
        if isinstance(converted, Converted):
            structures[name] = plain(converted), written(facts, converted)

    def scores(points: Sequence[Design | NoResult]) -> list[float]:
        known = [p for p in points if p.kernel in structures]
        if quick:
            known = random.Random(0).sample(known, len(known) // QUICK_SHARE)
        found = []
        for point in known:
            structure, kept = structures[point.kernel]
            design = with_directives(structure, Directives.parse(point.directives).pragmas)
            found.append(feasibility(design, PERSONALITY, kept=kept).score)
        return found

    good = scores(designs(folder))
    over, without = scores(designs(folder, "overcap")), scores(without_labels(folder))
    goal = Goal(">=", 0.9)
    for metric, bad in {"overcap": over, "noresult": without, "both": [*over, *without]}.items():
        wanted = goal if metric == "both" else None
        value = ordered_pairs(good, bad)
        name = f"auc_{metric}"
        yield Row(NAME, "u200/feasibility", name, value, "", wanted, SOURCE, len(good) + len(bad))


def ordered_pairs(low: Sequence[float], high: Sequence[float]) -> float:
    """The share of pairs of one of each in which the latter is larger; ties count half."""
    ordered = sorted(low)
    wins = sum(bisect_left(ordered, x) + bisect_right(ordered, x) for x in high)
    return wins / (2 * len(low) * len(high))
