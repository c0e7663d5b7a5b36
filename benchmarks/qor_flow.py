"""FIFO dataflow designs of the U280 data: the model's latency next to co-simulation.

Rows ``u280/KERNEL-dataflow`` of `benchmarks.qor_model`: the designs that Stream-HLS made of each
kernel, rebuilt from the reports (`qor_gnn.fit.labelled.u280_flow`). ``csynth_mape_pct`` is the error of the
tool's own report, for comparison. ``period_`` and ``misses_`` rows are of the clock that csynth estimates: its
error, how many of the designs above the clock asked for are said to miss it, and how many of the others are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._row import Goal, Row, median, say
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import u280, u280_flow
from qor_gnn.fit.labelled.u280_flow_program import flow_design
from qor_gnn.schedule.clock import Clock

NAME = "qor_model"
SOURCE = f"{u280.TOOL} co-simulation, {u280.DEVICE}, {u280.CLOCK_NS} ns"
CSYNTH = f"{u280.TOOL} csynth, {u280.DEVICE}, {u280.CLOCK_NS} ns"
QUICK = 60  # multipliers of the designs that are looked at under --quick


@dataclass(frozen=True)
class Flow:
    """A design, what the model says, and what the tool said and then did."""

    design: u280_flow.FlowDesign
    latency: float
    dsp: int
    clock: Clock

    @property
    def missed(self) -> bool:
        """Csynth estimates more than the clock asked for."""
        return self.design.label.clock_estimate_ns > self.design.label.clock_target_ns

    @property
    def period_error(self) -> float:
        """Per cent, of the estimated period against csynth's."""
        return 100 * abs(self.clock.estimate_ns / self.design.label.clock_estimate_ns - 1)

    @property
    def error(self) -> float:
        """Per cent, of the latency against co-simulation."""
        return 100 * abs(self.latency / (self.design.label.cosim_cycles or 0) - 1)

    @property
    def csynth_error(self) -> float:
        """Per cent, of the tool's own report against co-simulation."""
        label = self.design.label
        return 100 * abs(label.latency_max / (label.cosim_cycles or 0) - 1)


def measured(design: u280_flow.FlowDesign) -> Flow:
    """The model's answer for one design."""
    program, schedule = flow_design(design.kernel, design.shapes, design.streams)
    tree = kernel_of_tree(loop_tree(apply(program, schedule)))
    found = estimate(tree, u280.PERSONALITY)
    assert found.clock is not None, "it is an estimate of an HLS tool"
    return Flow(design, found.latency.average, found.dsp, found.clock)


def flow_rows(folder: Path, quick: bool) -> Iterator[Row]:
    """Errors of each kernel and of all; DSP too, which the schedule says only in part."""
    designs = list(u280_flow.designs(folder))
    if quick:
        designs = [d for d in designs if sum(r.n_fmul for r in d.rows.values()) <= QUICK]
        say(f"--quick: {len(designs)} dataflow designs of few multipliers")
    found = [measured(d) for d in designs]
    for kernel in u280_flow.KERNELS:
        own = [f for f in found if f.design.kernel == kernel]
        yield from _rows(f"u280/{kernel}-dataflow", own)
    yield from _rows("u280/all-dataflow", found)
    yield from _clock_rows("u280/all-dataflow", found)


def _rows(case: str, found: Sequence[Flow]) -> Iterator[Row]:
    errors = [f.error for f in found]
    dsp = [100 * abs(f.dsp / f.design.label.dsp - 1) for f in found]
    values = {
        "latency_mape_pct": sum(errors) / len(errors),
        "latency_median_ape_pct": median(errors),
        "within_5pct": 100 * sum(e <= 5 for e in errors) / len(errors),
        "csynth_mape_pct": sum(f.csynth_error for f in found) / len(found),
        "dsp_mape_pct": sum(dsp) / len(dsp),
    }
    goals = {"latency_mape_pct": Goal("<=", 5)}
    for metric, value in values.items():
        yield Row(NAME, case, metric, value, "%", goals.get(metric), SOURCE, len(found))


def _clock_rows(case: str, found: Sequence[Flow]) -> Iterator[Row]:
    missed = [not f.clock.met for f in found if f.missed]
    kept = [not f.clock.met for f in found if not f.missed]
    goals = {
        "period_median_ape_pct": Goal("<=", 10),
        "misses_found_pct": Goal(">=", 80),
    }
    values = {
        "period_median_ape_pct": (median([f.period_error for f in found]), len(found)),
        "misses_found_pct": (100 * sum(missed) / max(1, len(missed)), len(missed)),
        "misses_false_pct": (100 * sum(kept) / max(1, len(kept)), len(kept)),
    }
    for metric, (value, n) in values.items():
        yield Row(NAME, case, metric, value, "%", goals.get(metric), CSYNTH, n)
