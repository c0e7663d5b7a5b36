"""How fast the QoR model is, one design at a time.

Rows `direct`: processor time of one estimate from the region tree of a design, the slowest of
designs with unrolled pipelines. How fast thousands of points are ranked is `benchmarks.ranking`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks._row import Goal, Row
from qor_gnn.design.directives import with_directives
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import zu9eg

NAME = "qor_model"
SOURCE = "processor time of one core"
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


def speed_rows(quick: bool) -> Iterator[Row]:
    """All rows."""
    yield from direct_rows(10 if quick else 50)


# ------------------------------------------------------------------------------------------ direct


def direct_rows(repetitions: int) -> Iterator[Row]:
    """Time of an estimate, from a region tree on: each kernel's slowest, and the worst of them."""
    slowest = {}
    for case, configs in DIRECT.items():
        slowest[case] = max(milliseconds(KERNELS[case], config, repetitions) for config in configs)
    for case, value in slowest.items():
        yield Row(NAME, f"direct/{case}", "ms_per_design", value, "ms", None, SOURCE, repetitions)
    goal = Goal("<=", DIRECT_MS)
    worst = max(slowest.values())
    yield Row(NAME, "direct", "ms_per_design", worst, "ms", goal, SOURCE, repetitions)


def milliseconds(kernel: str, config: str, repetitions: int) -> float:
    """The least time of one estimate: other work on the machine can only add to it."""
    tree = with_directives(zu9eg.structure(kernel), zu9eg.schedule(config))
    samples = []
    for _ in range(repetitions):
        start = time.process_time()
        estimate(tree, zu9eg.PERSONALITY)
        samples.append(1000 * (time.process_time() - start))
    return min(samples)
