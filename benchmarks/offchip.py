"""Accelerators with memory outside: those that are found for a U55C next to Prometheus's, and bursts of its reports.

Prometheus (FCCM 2025) searches tiles, transfers and tasks with a commercial solver; its designs are in
prometheus-u55c. ``KERNEL@u55c``: ``weft explore --deploy u55c`` at most at its DSP slices, each array behind a port
of its own, as there. Its cycles are those of RTL emulation with the tool's memory model (of atax csynth's, of the
design for the board); ours are the view of csynth, and in ``rtl_ratio`` what the model expects of RTL emulation. ``supported_`` rows are of the fastest design that labels show (e, n and phi of the search).
``board_ms`` is the time to solution on the board that the model expects, ``roof_ratio`` the time of its kernel over the
roofline: the operations in the DSP slices and LUTs that there are, or the bytes of the busiest channel and the way there.

``emulation`` compares csynth and the waits of lines of 64 bytes with RTL emulation of the source's designs, each framework
left out of the fit in turn.

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
from statistics import median

import weft
from backends.deploy.boards import board
from benchmarks._emulation import designs, left_out
from benchmarks._row import Goal, Options, Row, main, say
from dse.api.run import Run, RunDesign
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
NEAR_ROOF = 2
_OF_KERNELS = 6 / 8
_WITHIN = 12.0
"""Percent of an error that is small."""
_IN_LINE = 60
"""Cycles more than its trips from which on a loop has the way to memory in its own latency."""


def measure(options: Options) -> Iterator[Row]:
    """All rows."""
    if options.quick:
        say("quick: without the rows of six kernels")
    kernels = QUICK if options.quick else tuple(PROMETHEUS)
    near = 0
    for kernel in kernels:
        for row in found_rows(kernel):
            near += row.metric == "roof_ratio" and row.ok
            yield row
    least = round(_OF_KERNELS * len(kernels))
    yield Row(NAME, "u55c/all", "within_2x_of_roof", near, "kernels", Goal(">=", least), "model", len(kernels))  # fmt: skip
    if (options.extra.data / "bursts.csv").is_file():
        yield from emulation_rows(options.extra.data)
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
        yield from board_rows(run, best, case, kind, cycles)
        yield _row(case, f"{kind}seconds", seconds, "s", Goal("<=", SECONDS))
        bound = run.problem.bound if run.problem is not None else None
        if bound is not None and not supported:
            yield _row(case, "ratio_to_bound", best.latency / bound.cycles, "1")


def board_rows(run: Run, best: RunDesign, case: str, kind: str, rival: int) -> Iterator[Row]:
    """Emulation, and the board next to its roofline."""
    on, problem = best.board, run.problem
    assert on is not None, "arrays are outside"
    assert problem is not None
    yield _row(case, f"{kind}rtl_ratio", on.emulation / rival, "1")
    yield _row(case, f"{kind}board_ms", on.ms, "ms")
    if kind:
        return
    of_cycle = on.compute_ms / best.latency
    work = max(b.cycles for b in problem.bounds if b.kind in ("dsp", "lut")) * of_cycle
    way = 2 * board("u55c").memory.latency[1] * 1e-6
    roof = max(work, on.memory_ms + way)
    yield _row(case, "roof_ratio", on.kernel_ms / roof, "1", Goal("<=", NEAR_ROOF))


def emulation_rows(data: Path) -> Iterator[Row]:
    """Errors of designs whose framework is left out of the fit."""
    errors = [(one, error) for one, error in left_out(designs(data))]
    for one, error in errors:
        yield Row(NAME, one.design, "rtl_ape_pct", error, "%", None, "csynth and waits, left out")
    total = len(errors)
    found = [error for _, error in errors]
    yield Row(NAME, "emulation/left_out", "rtl_median_ape_pct", median(found), "%", Goal("<=", 5), "csynth and waits", total)  # fmt: skip
    inside = 100 * sum(error <= _WITHIN for error in found) / total
    yield Row(NAME, "emulation/left_out", "rtl_within_12_pct", inside, "%", Goal(">=", 80), "csynth and waits", total)  # fmt: skip


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
