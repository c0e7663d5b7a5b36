"""Accelerators with memory outside: those that are found for a U55C next to Prometheus's, and bursts of its reports.

Prometheus (FCCM 2025) searches tiles, transfers and tasks with a commercial solver; its designs are in
prometheus-u55c. ``KERNEL@u55c``: ``weft explore --deploy u55c`` at most at its DSP slices, each array behind a port
of its own, as there. Its cycles are those of RTL emulation with the tool's memory model (of atax csynth's, of the
design for the board); ours are the view of csynth, and ``rtl_ratio`` is with the median by which RTL takes more in
that source, 1.056. ``supported_`` rows are of the fastest design that labels show (e, n and phi of the search).

``bursts`` compares the loops of all designs there that read or write one burst with what the model says of such a loop.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import weft
from benchmarks._row import Goal, Options, Row, main, say
from qor_gnn.tools.personality import personality

NAME = "offchip"
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
DATA = Path("../shared/data/prometheus-u55c")
TOOL = "vitis-2023.2-u280-3.33ns"

# Cycles and DSP slices of Prometheus's designs, f32, MEDIUM (designs.csv).
PROMETHEUS = {
    "gemm": (22_706, 4_814), "k2mm": (35_638, 6_462), "atax": (16_233, 415), "bicg": (12_454, 1_958),
    "mvt": (13_106, 2_055), "gemver": (33_343, 4_722), "syrk": (16_694, 8_000), "syr2k": (31_140, 7_710),
}  # fmt: skip
QUICK = ("gemm", "mvt")
TRIALS = 20
SECONDS = 30
RTL_OVER_CSYNTH = 1.056
"""Median of the 27 designs of the source that have both."""
_IN_LINE = 60
"""Cycles more than its trips from which on a loop has the way to memory in its own latency."""


def measure(options: Options) -> Iterator[Row]:
    """All rows."""
    if options.quick:
        say("quick: without the rows of six kernels")
    for kernel in QUICK if options.quick else PROMETHEUS:
        yield from found_rows(kernel)
    if (options.extra.data / "bursts.csv").is_file():
        yield from burst_rows(options.extra.data)
    else:
        say(f"no reports in {options.extra.data}: their rows are left out")


def found_rows(kernel: str) -> Iterator[Row]:
    """What the search finds for one kernel."""
    cycles, dsp = PROMETHEUS[kernel]
    case = f"{kernel}@u55c"
    for supported in (False, True):
        start = time.perf_counter()
        run = weft.explore(
            weft.load(f"{EXAMPLES}/polybench/{kernel}.py:{kernel}"), "medium", deploy="u55c", clock=3.33,
            dsp=dsp, share=1.0, reassociate=True, supported=supported, trials=TRIALS, progress=False,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        best = run.best(supported=supported)
        ratio = best.latency / cycles
        kind = "supported_" if supported else ""
        yield _row(case, f"{kind}latency_cycles", best.latency, "cycles")
        yield _row(case, f"{kind}dsp", best.resources["dsp"], "DSP", Goal("<=", dsp))
        yield _row(case, f"{kind}ratio_to_prometheus", ratio, "1", Goal("<=", 1))
        yield _row(case, f"{kind}rtl_ratio", ratio * RTL_OVER_CSYNTH, "1")
        yield _row(case, f"{kind}seconds", seconds, "s", Goal("<=", SECONDS))
        bound = run.problem.bound if run.problem is not None else None
        if bound is not None and not supported:
            yield _row(case, "ratio_to_bound", best.latency / bound.cycles, "1")


def _row(case: str, metric: str, value: float, unit: str, goal: Goal | None = None) -> Row:
    return Row(NAME, case, metric, value, unit, goal, "model", TRIALS)


def burst_rows(data: Path) -> Iterator[Row]:
    """Loops that are one burst, with the way to memory in their own latency."""
    policy = personality(TOOL).outside
    assert policy is not None
    waits = {"read": policy.latency + policy.read, "write": policy.latency + policy.write}
    loops = defaultdict(list)
    for row in _table(data / "loops.csv"):
        loops[row["design"], row["top"], row["loop"]].append(row)
    for direction, wait in waits.items():
        exact = near = total = 0
        for burst in _table(data / "bursts.csv"):
            mine = loops[burst["design"], burst["top"], burst["loop"]]
            if burst["table"] != "inferred" or burst["direction"] != direction or len(mine) != 1:
                continue
            (loop,) = mine
            if (loop["trip"], loop["ii_achieved"]) != (burst["length"], "1"):
                continue
            more = int(loop["latency_max"]) - int(loop["trip"])
            if more > _IN_LINE:
                total += 1
                exact += more == wait
                near += abs(more - wait) <= 1
        goal = Goal(">=", 95)
        yield Row(
            NAME,
            f"bursts/{direction}",
            "exact_pct",
            100 * exact / total,
            "%",
            goal,
            "csynth",
            total,
        )
        yield Row(
            NAME, f"bursts/{direction}", "within_1_pct", 100 * near / total, "%", None, "csynth", total
        )  # fmt: skip


def _table(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where the reports are."""
    parser.add_argument(
        "--data", type=Path, default=DATA, metavar="DIR", help="folder of prometheus-u55c"
    )


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", measure, add_options))
