"""The white-box QoR model next to what the HLS tool reported: errors by data set and kernel.

Rows `zu9eg/…`: Vitis HLS 2022.1 on xczu9eg at 10 ns, the folder `vitis2022-zu9eg` of ``--data``.
Rows `u280/…`: the plain designs of `streamhls-u280`, Vitis HLS 2023.2 at 3.33 ns.
Rows `u280/KERNEL-dataflow`: see `benchmarks.qor_flow`.
Rows `u200/…`: see `benchmarks.qor_u200`.
Nothing in the model is keyed on a kernel. Rows `direct`: see `benchmarks.qor_speed`.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._row import Goal, Options, Row, main, median, say
from benchmarks.qor_flow import flow_rows
from benchmarks.qor_resources import resource_rows, u280_resource_rows
from benchmarks.qor_speed import speed_rows
from benchmarks.qor_u200 import u200_rows
from polyhedral.codegen.generate import loop_tree
from polyhedral.scop.scheduled import build
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import u280, u280_programs, zu9eg
from qor_gnn.result.qor_estimate import QorEstimate

NAME = "qor_model"
CSYNTH = "Vitis HLS 2022.1 csynth, xczu9eg, 10 ns"
QUICK = 500  # designs of each file under --quick


@dataclass(frozen=True)
class Measured:
    """A labelled design and the model's answer; II and IL are of the innermost loop."""

    kernel: str
    found: QorEstimate
    latency: int
    dsp: int
    ii: int | None = None
    il: int | None = None

    @property
    def latency_error(self) -> float:
        """Of the latency, relative to the label."""
        return abs(self.found.latency.average / self.latency - 1)

    @property
    def dsp_error(self) -> float:
        """Of the DSP count, relative to the label."""
        return abs(self.found.dsp / self.dsp - 1)

    @property
    def same_ii(self) -> bool:
        """The interval is the label's."""
        return self.found.loops[-1].ii == self.ii

    @property
    def same_il(self) -> bool:
        """The iteration latency is the label's."""
        return self.found.loops[-1].depth == self.il


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where the labelled designs are."""
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("../shared/data"),
        metavar="DIR",
        help="folder of the labelled designs",
    )


def measure(options: Options) -> Iterator[Row]:
    """All rows."""
    data = {
        "vitis2022-zu9eg": zu9eg_rows,
        "streamhls-u280": u280_rows,
        "hlsfactory-u200": u200_rows,
    }
    for name, rows in data.items():
        folder = options.extra.data / name
        if folder.is_dir():
            yield from rows(folder, options.quick)
        else:
            say(f"there are no labelled designs in {folder}: its rows are left out")
    yield from speed_rows(options.quick)


# ------------------------------------------------------------------------------------------- zu9eg


def zu9eg_rows(folder: Path, quick: bool) -> Iterator[Row]:
    """Errors on whole kernels and on single loops."""
    kernels = measured(folder, "kernels", quick)
    for kernel in zu9eg.KERNELS:
        part = [m for m in kernels if m.kernel == kernel]
        yield from error_rows(f"zu9eg/{kernel}", part, {"latency_mape_pct": Goal("<=", 0.1)})
    goals = {
        "latency_mape_pct": Goal("<=", 0.1),
        "latency_exact_pct": Goal(">=", 97),
        "dsp_exact_pct": Goal(">=", 96),
        "dsp_mape_pct": Goal("<=", 2),
    }
    yield from error_rows("zu9eg/all", kernels, goals)
    goals = {"ii_exact_pct": Goal(">=", 99.5), "il_exact_pct": Goal(">=", 98)}
    yield from error_rows(
        "zu9eg/loops_pipelined", measured(folder, "loops_pipelined", quick), goals
    )
    goals = {"latency_exact_pct": Goal(">=", 99)}
    sequential = measured(folder, "loops_sequential", quick)
    yield from error_rows("zu9eg/loops_sequential", sequential, goals)
    yield from resource_rows(folder, QUICK if quick else None)


def measured(folder: Path, file: zu9eg.File, quick: bool) -> list[Measured]:
    """Estimates of the designs of one file; of a random part of them when quick."""
    samples = list(zu9eg.samples(folder, file))
    if quick and len(samples) > QUICK:
        say(f"--quick: {QUICK} of {len(samples)} designs of {file}")
        samples = random.Random(0).sample(samples, QUICK)
    return [labelled(sample) for sample in samples]


def labelled(sample: zu9eg.Sample) -> Measured:
    """The model's answer for one design."""
    labels = sample.labels
    found = estimate(zu9eg.kernel_of(sample), zu9eg.PERSONALITY)
    return Measured(sample.kernel, found, labels.latency, labels.dsp, labels.ii, labels.il)


def error_rows(
    case: str, rows: Sequence[Measured], goals: Mapping[str, Goal], source: str = CSYNTH
) -> Iterator[Row]:
    """Errors over some designs; II and IL where the labels have them."""
    latency = [100 * m.latency_error for m in rows]
    dsp = [100 * m.dsp_error for m in rows]
    values = {
        "latency_mape_pct": mean(latency),
        "latency_median_ape_pct": median(latency),
        "latency_exact_pct": 100 * mean([e == 0 for e in latency]),
        "dsp_mape_pct": mean(dsp),
        "dsp_exact_pct": 100 * mean([e == 0 for e in dsp]),
    }
    if rows and rows[0].ii is not None:
        values["ii_exact_pct"] = 100 * mean([m.same_ii for m in rows])
        values["il_exact_pct"] = 100 * mean([m.same_il for m in rows])
    for metric, value in values.items():
        yield Row(NAME, case, metric, value, "%", goals.get(metric), source, len(rows))


def mean(values: Sequence[float]) -> float:
    """The mean, NaN of none."""
    return statistics.fmean(values) if values else math.nan


# -------------------------------------------------------------------------------------------- u280


def u280_rows(folder: Path, quick: bool) -> Iterator[Row]:
    """The designs without any directive: what the tool does by itself."""
    labels = {r.kernel: r for r in u280.design_rows(folder) if r.tool == "vitis"}
    found = []
    for kernel in u280_programs.KERNELS:
        tree = kernel_of_tree(loop_tree(build(u280_programs.program(kernel))))
        label = labels[kernel]
        got = estimate(tree, u280.PERSONALITY)
        found.append(Measured(kernel, got, label.latency_max, label.dsp))
    source = f"{u280.TOOL} csynth, {u280.DEVICE}, {u280.CLOCK_NS} ns"
    for one in found:
        goals = {"latency_mape_pct": Goal("<=", 0.5)}
        yield from error_rows(f"u280/{one.kernel}", [one], goals, source)
    goals = {"latency_mape_pct": Goal("<=", 0.5), "dsp_exact_pct": Goal(">=", 100 * 5 / 7)}
    yield from error_rows("u280/all", found, goals, source)
    yield from u280_resource_rows(folder)
    yield from flow_rows(folder, quick)


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure, add_options))
