"""The white-box QoR model next to what the HLS tool reported: errors by data set and kernel.

Rows `zu9eg/…`: Vitis HLS 2022.1 on xczu9eg at 10 ns, the folder `vitis2022-zu9eg` of ``--data``.
Nothing in the model is keyed on a kernel. Rows `direct`: time of one estimate from the region tree
of a design, read from its loop tree: the slowest of designs with unrolled pipelines.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._row import Goal, Options, Row, main, median, say
from qor_gnn.data import zu9eg
from qor_gnn.directives import with_directives
from qor_gnn.estimate import QorEstimate, estimate

NAME = "qor_model"
CSYNTH = "Vitis HLS 2022.1 csynth, xczu9eg, 10 ns"
FOLDER = "vitis2022-zu9eg"
QUICK = 500  # designs of each file under --quick
DIRECT_MS = 5.0
DIRECT = {  # arrays and loops as the data set writes them: pipelines that are unrolled
    "gemm": (
        "C_2_4_B_2_4_B_1_4_A_2_4__lp2_p_4_f_lp5_p_4_f",
        "C_2_2_B_2_2_B_1_16_A_2_16__lp2_p_2_f_lp4_n_2_f_lp5_p_16_f",
        "B_1_64_A_2_64__lp2_p_1_f_lp4_p_1_f_lp5_p_64_f",
    ),
    "3mm": (
        "B_1_4_D_1_4_A_2_4_C_2_4_F_1_4__lp3_p_4_f_lp6_p_4_f",
        "B_1_8_D_1_8_A_2_8_C_2_8_F_1_8__lp2_n_2_f_lp3_p_8_f_lp5_n_2_f_lp6_p_8_f",
    ),
}
KERNELS = {"gemm": "gemm", "3mm": "k3mm"}


@dataclass(frozen=True)
class Measured:
    """A labelled design and the model's answer."""

    sample: zu9eg.Sample
    found: QorEstimate

    @property
    def latency_error(self) -> float:
        """Of the latency, relative to the label."""
        return abs(self.found.latency.average / self.sample.labels.latency - 1)

    @property
    def dsp_error(self) -> float:
        """Of the DSP count, relative to the label."""
        return abs(self.found.dsp / self.sample.labels.dsp - 1)

    @property
    def same_ii(self) -> bool:
        """The interval of the innermost loop is the label's."""
        return self.found.loops[-1].ii == self.sample.labels.ii

    @property
    def same_il(self) -> bool:
        """The iteration latency of the innermost loop is the label's."""
        return self.found.loops[-1].depth == self.sample.labels.il


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
    folder = options.extra.data / FOLDER
    if folder.is_dir():
        yield from zu9eg_rows(folder, options.quick)
    else:
        say(f"there are no labelled designs in {folder}: the rows zu9eg/… are left out")
    yield from direct_rows(5 if options.quick else 25)


# ------------------------------------------------------------------------------------------- zu9eg


def zu9eg_rows(folder: Path, quick: bool) -> Iterator[Row]:
    """Errors on whole kernels and on single loops."""
    kernels = measured(folder, "kernels", quick)
    for kernel in zu9eg.KERNELS:
        part = [m for m in kernels if m.sample.kernel == kernel]
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


def measured(folder: Path, file: zu9eg.File, quick: bool) -> list[Measured]:
    """Estimates of the designs of one file; of a random part of them when quick."""
    samples = list(zu9eg.samples(folder, file))
    if quick and len(samples) > QUICK:
        say(f"--quick: {QUICK} of {len(samples)} designs of {file}")
        samples = random.Random(0).sample(samples, QUICK)
    return [Measured(s, estimate(zu9eg.kernel_of(s), zu9eg.PERSONALITY)) for s in samples]


def error_rows(case: str, rows: Sequence[Measured], goals: Mapping[str, Goal]) -> Iterator[Row]:
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
    if rows and rows[0].sample.labels.ii is not None:
        values["ii_exact_pct"] = 100 * mean([m.same_ii for m in rows])
        values["il_exact_pct"] = 100 * mean([m.same_il for m in rows])
    for metric, value in values.items():
        yield Row(NAME, case, metric, value, "%", goals.get(metric), CSYNTH, len(rows))


def mean(values: Sequence[float]) -> float:
    """The mean, NaN of none."""
    return statistics.fmean(values) if values else math.nan


# ------------------------------------------------------------------------------------------ direct


def direct_rows(repetitions: int) -> Iterator[Row]:
    """Time of an estimate, from a region tree on: each kernel's slowest, and the worst of them."""
    slowest = {}
    for case, configs in DIRECT.items():
        slowest[case] = max(milliseconds(KERNELS[case], config, repetitions) for config in configs)
    goal = Goal("<=", DIRECT_MS)
    source = "processor time of one core"
    for case, value in slowest.items():
        yield Row(NAME, f"direct/{case}", "ms_per_design", value, "ms", None, source, repetitions)
    worst = max(slowest.values())
    yield Row(NAME, "direct", "ms_per_design", worst, "ms", goal, source, repetitions)


def milliseconds(kernel: str, config: str, repetitions: int) -> float:
    """The median time of one estimate."""
    tree = with_directives(zu9eg.structure(kernel), zu9eg.schedule(config))
    samples = []
    for _ in range(repetitions):
        start = time.process_time()
        estimate(tree, zu9eg.PERSONALITY)
        samples.append(1000 * (time.process_time() - start))
    return median(samples)


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure, add_options))
