"""How fast the QoR model is: one design at a time, and many of a family at once.

Rows `direct`: processor time of one estimate from the region tree of a design, the slowest of
designs with unrolled pipelines. Rows `batch`: every design of a family of 3mm, three tiled products
with nine free factors and the banks that their accesses want; `batch` counts everything, reading the
structure and scheduling what is distinct included, `batch/again` the same array once more.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks._row import Goal, Row
from dsl.kernels.loader import load
from qor_gnn.batch.estimates import Batch
from qor_gnn.batch.family import Family, family
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
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
BATCH_RATE = 20_000
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "polybench" / "k3mm.py"
SIZES = {"NI": 64, "NJ": 48, "NK": 80, "NL": 96, "NM": 112}
FACTORS = (1, 2, 4, 8)
QUICK_FACTORS = (1, 2, 4)
CHECKED = 40  # random designs that are estimated by both roads


def speed_rows(quick: bool) -> Iterator[Row]:
    """All rows."""
    yield from direct_rows(10 if quick else 50)
    yield from batch_rows(QUICK_FACTORS if quick else FACTORS)


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


# ------------------------------------------------------------------------------------------- batch


def three_products() -> Family:
    """3mm under its schedule ``tiled``: all factors free."""
    kernel = load(f"{EXAMPLE}:k3mm").at(**SIZES)
    return family(kernel.program, kernel.schedules["tiled"])


def designs(of: Family, factors: Sequence[int]) -> np.ndarray:
    """Every choice of the nine loop factors, with the banks that the accesses want: powers of two,
    so that the widest of the factors that meet in a dimension is their common multiple.
    """
    loops = [n for n in of.names if n.startswith(("split", "tile"))]
    table = np.ones((len(factors) ** len(loops), len(of.names)), np.int64)
    place = {name: n for n, name in enumerate(of.names)}
    choices = np.array(list(itertools.product(factors, repeat=len(loops))), np.int64)
    for n, name in enumerate(loops):
        table[:, place[name]] = choices[:, n]
    for bank, wanted in WANTED.items():
        table[:, place[bank]] = np.max(table[:, [place[w] for w in wanted]], axis=1)
    return table


WANTED = {  # which loops' copies move through a dimension
    "partition A 0": ("tile S1.i",),
    "partition A 1": ("tile S1.k",),
    "partition B 0": ("tile S1.k",),
    "partition C 0": ("tile S3.i",),
    "partition C 1": ("tile S3.k",),
    "partition D 0": ("tile S3.k",),
    "partition E 0": ("split S0.i", "tile S1.i", "tile S5.i"),
    "partition E 1": ("tile S5.k",),
    "partition F 0": ("split S2.i", "tile S3.i", "tile S5.k"),
    "partition G 0": ("split S4.i", "tile S5.i"),
}


def batch_rows(factors: Sequence[int]) -> Iterator[Row]:
    """Designs a second, with and without what is done once, and whether the answers are right."""
    of = three_products()
    table = designs(of, factors)
    start = time.process_time()
    batch = Batch(of)
    first = batch.evaluate(table)
    once = len(table) / (time.process_time() - start)
    start = time.process_time()
    batch.evaluate(table)
    again = len(table) / (time.process_time() - start)
    goal = Goal(">=", BATCH_RATE)
    yield Row(NAME, "batch", "designs_per_s", once, "1/s", goal, SOURCE, len(table))
    yield Row(NAME, "batch/again", "designs_per_s", again, "1/s", None, SOURCE, len(table))
    yield Row(NAME, "batch", "scheduled_parts", batch.scheduled, "", None, SOURCE, len(table))
    wrong = 0
    for n in random.Random(0).sample(range(len(table)), CHECKED):
        answer = estimate(kernel_of_tree(batch.exact_tree(table[n].tolist())), batch.tool)
        same = answer.latency.average == first.latency[n] and answer.period_ns == first.period_ns[n]
        blocks = ("dsp", "bram18", "uram", "lut", "ff")
        wrong += not (same and all(getattr(answer, b) == getattr(first, b)[n] for b in blocks))
    none = Goal("<=", 0)
    yield Row(NAME, "batch", "different_from_direct", wrong, "", none, "estimate()", CHECKED)
