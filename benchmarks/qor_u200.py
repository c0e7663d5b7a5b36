"""Rows `u200/KERNEL` of the QoR model: Vitis HLS 2025.1 on xcu200 at 4 ns, automatic directives.

A fixed random part of the rows of each expressible kernel of `hlsfactory-u200` is estimated. No
rule is keyed on a kernel and no coefficient is fitted, but the rules were found by looking at
these kernels (docs/qor-u200.md). The tool charges variable trip counts at their maximum, so its
latency is compared with `Cycles.maximum`.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._row import Goal, Row, median, say
from qor_gnn.data.u200 import CLOCK_NS, DEVICE, TOOL, Facts, designs, kernels
from qor_gnn.data.u200 import Row as Design
from qor_gnn.data.u200_design import Directives, plain, written
from qor_gnn.data.u200_program import Converted, convert
from qor_gnn.directives import with_directives
from qor_gnn.estimate import estimate

NAME = "qor_model"
PERSONALITY = "vitis-2025.1-u200-4ns"
SOURCE = f"{TOOL} csynth, {DEVICE}, {CLOCK_NS} ns; a random part of the rows"
EACH, QUICK = 40, 2  # designs of a kernel
LOST = {("adi", 9_259)}  # reports of a design whose loops the tool has lost: docs/qor-u200.md, 9
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
    rows = [r for r in designs(folder) if (r.kernel, r.labels.latency) not in LOST]
    for name, facts in kernels(folder).items():
        converted = convert(facts)
        if not isinstance(converted, Converted):
            say(f"u200/{name} is left out: {converted.reason}")
            continue
        mine = [r for r in rows if r.kernel == name]
        part = random.Random(0).sample(mine, min(len(mine), QUICK if quick else EACH))
        errors = kernel_errors(facts, converted, part)
        found += errors
        yield from error_rows(f"u200/{name}", errors, {})
    yield from error_rows("u200/all", found, GOALS)


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
