"""Designs that labels of the tool show, next to Stream-HLS's: rows ``KERNEL@xcu280:CAP`` of `dse_quality`.

``supported_ratio`` is of cycles to those of Stream-HLS's design for the same cap, of the fastest design with e up to 1,
n = 0 and phi up to 1.1 that ``weft explore --supported`` finds in 40 trials; rows ``all@xcu280:CAP`` have the geometric
mean. Rows ``own`` are at the DSP slices that Stream-HLS's design has.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

import weft
from benchmarks._row import Goal, Row

NAME = "dse_quality"
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TRIALS = 40
GOALS = {220: 0.80, 2560: 0.70}
OWN_GOAL = 0.90

# DSP slices of Stream-HLS's designs for the two caps (designs.csv of streamhls-u280).
OWN = {
    "gemm": (194, 2_552), "atax": (202, 1_502), "bicg": (201, 1_501), "gesummv": (218, 922),
    "mvt": (202, 2_306), "k2mm": (222, 1_942), "k3mm": (227, 2_507),
}  # fmt: skip


def supported_rows(cap: int, rivals: Mapping[str, int]) -> Iterator[Row]:
    """Every kernel of Stream-HLS under one cap.

    Args:
        cap: DSP slices.
        rivals: cycles of Stream-HLS's design, by kernel.
    """
    yield from _rows(f"xcu280:{cap}", dict.fromkeys(rivals, cap), rivals, GOALS[cap])


def own_rows(rivals: Mapping[str, tuple[int, ...]]) -> Iterator[Row]:
    """Every kernel at the DSP slices that Stream-HLS's designs have, of both caps."""
    for n, cap in enumerate(GOALS):
        budgets = {kernel: OWN[kernel][n] for kernel in rivals}
        yield from _rows(
            f"xcu280:own-{cap}", budgets, {k: r[n] for k, r in rivals.items()}, OWN_GOAL
        )


def _rows(
    where: str, budgets: Mapping[str, int], rivals: Mapping[str, int], goal: float
) -> Iterator[Row]:
    ratios = []
    for kernel, cycles in rivals.items():
        run = weft.explore(
            weft.load(f"{EXAMPLES}/polybench/{kernel}.py:{kernel}"), device="xcu280", clock=3.33,
            dsp=budgets[kernel], share=1.0, reassociate=True, supported=True, trials=TRIALS,
            progress=False,
        )  # fmt: skip
        best = run.best(supported=True)
        ratios.append(best.latency / cycles)
        case = f"{kernel}@{where}"
        yield Row(NAME, case, "supported_cycles", best.latency, "cycles", None, "model", TRIALS)
        yield Row(NAME, case, "supported_ratio", ratios[-1], "1", None, "model", TRIALS)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    yield Row(NAME, f"all@{where}", "supported_ratio", mean, "1", Goal("<=", goal), "model", TRIALS)
