"""Time from kernel source to HLS C++, next to DaCe in the same run, and of the command line.

Rows `ratio_to_dace`: the median time of Weft over that of DaCe, in process and after imports, the
two measured in turns on the same kernels, types and sizes. Weft's time begins with the text of
the kernel's file and includes parsing, dependences, the legality of a schedule that tiles, unrolls,
pipelines and partitions, MLIR, and emission; DaCe's begins with the function and has no tiling (see
peers/dace_compile.py). Row `legality_ms`: carrying out and proving one step that changes an order.
Rows `process_s`: whole processes, from start to exit.
"""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._peer import ROOT, Peer, PeerError, PeerProcess
from benchmarks._row import Goal, Options, Row, main, median, say
from polyhedral.legality.program import check_program
from polyhedral.schedule import apply_step
from polyhedral.scop.scheduled import original
from polyhedral.transforms.registry import Order, order_of

NAME = "compile_time"
POLYBENCH = ROOT / "examples" / "polybench"

DACE = Peer(
    name="dace",
    # DaCe 1.0.2 wants what networkx 3.6 changed: there, a node's own dominator is left out.
    requirements=("dace==1.0.2", "networkx==3.4.2", "numpy==1.26.4", "sympy==1.14.0"),
    program=ROOT / "benchmarks" / "peers" / "dace_compile.py",
)


@dataclass(frozen=True)
class Case:
    """A kernel to compile: the file, the kernel's name in it, a named schedule, a named size."""

    name: str
    file: Path
    kernel: str
    schedule: str
    size: str


CASES = (
    Case("gemm", POLYBENCH / "gemm.py", "gemm", "tiled", "1024"),
    Case("2mm", POLYBENCH / "k2mm.py", "k2mm", "tiled", "large"),
    Case("3mm", POLYBENCH / "k3mm.py", "k3mm", "tiled", "large"),
    Case("jacobi-2d", POLYBENCH / "jacobi_2d.py", "jacobi_2d", "tiled", "large"),
)


def load(case: Case) -> Any:
    """The kernel of `case`, from the text of its file: nothing is kept from an earlier call."""
    spec = importlib.util.spec_from_file_location(f"bench_{case.kernel}", case.file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, case.kernel)


def compile_with_weft(case: Case) -> str:
    """HLS C++ of `case`, from the text of its file on."""
    import weft

    kernel = load(case)
    design = weft.compile(kernel, kernel.schedules[case.schedule], size=case.size)
    text: str = design.hls_cpp
    return text


def seconds_of_steps(case: Case) -> list[float]:
    """Wall time of each step of the schedule that changes an order: carry it out and prove it."""
    kernel = load(case)
    samples = []
    state = original(check_program(kernel.program))
    for step in kernel.schedules[case.schedule]:
        start = time.perf_counter()
        state = apply_step(state, step)
        took = time.perf_counter() - start
        if order_of(step) is not Order.KEPT:
            samples.append(took)
    return samples


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def seconds_of_dace(process: PeerProcess, case: Case) -> float:
    """Wall time of DaCe for `case`, as it measures itself."""
    return float(process.ask({"case": case.name})["seconds"])


def in_turns(left: Callable[[], float], right: Callable[[], float], n: int) -> list[list[float]]:
    """`n` samples of each, in turns and after one of each that does not count."""
    left()
    right()
    samples: list[list[float]] = [[], []]
    for turn in range(n):
        for side in ((0, 1), (1, 0))[turn % 2]:
            samples[side].append((left, right)[side]())
    return samples


def ratio_rows(process: PeerProcess | None, case: Case, n: int) -> Iterator[Row]:
    """The ratio of the medians for one kernel, and the medians."""
    goal = Goal("<=", 0.5)
    ours = partial(seconds, partial(compile_with_weft, case))
    how = f"wall clock, in turns, after imports; {', '.join(DACE.requirements[:1])}"
    if process is None:
        ours()
        weft_s = median([ours() for _ in range(n)])
        yield Row(NAME, case.name, "ratio_to_dace", None, "1", goal, "not measured", 0)
        yield Row(NAME, case.name, "weft_s", weft_s, "s", None, "wall clock, after imports", n)
        return
    weft, dace = in_turns(ours, partial(seconds_of_dace, process, case), n)
    ratio = median(weft) / median(dace)
    yield Row(NAME, case.name, "ratio_to_dace", ratio, "1", goal, how, n)
    yield Row(NAME, case.name, "weft_s", median(weft), "s", None, how, n)
    yield Row(NAME, case.name, "dace_s", median(dace), "s", None, how, n)


def process_row(case: str, arguments: list[str], bound: float, n: int) -> Row:
    """Median time of a whole process of the command line; None where it fails."""
    goal = Goal("<=", bound)
    command = [str(Path(sys.executable).parent / "weft"), *arguments]
    samples: list[float] = []
    for _ in range(n + 1):  # the first one fills the caches of the file system
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)
        samples.append(time.perf_counter() - start)
        if done.returncode != 0:
            say(f"compile_time: weft {' '.join(arguments)} failed: {done.stderr.strip()[-500:]}")
            return Row(NAME, case, "process_s", None, "s", goal, "failed", 0)
    value = statistics.median(samples[1:])
    return Row(
        NAME, case, "process_s", value, "s", goal, f"wall clock, {sys.version.split()[0]}", n
    )


def legality_row(case: Case, n: int) -> Row:
    """Median time of a step, over the steps of the schedule and `n` fresh starts."""
    samples = [took for _ in range(n) for took in seconds_of_steps(case)]
    value = 1e3 * median(samples)
    how = "wall clock of a step, transformation and proof; a program's first finds dependences"
    return Row(NAME, case.name, "legality_ms", value, "ms", Goal("<=", 3), how, len(samples))


def start_dace() -> PeerProcess | None:
    """DaCe, running; None and a message where it cannot be installed."""
    if not (DACE.environment / ".requirements").exists():
        say(f"compile_time: installing {DACE.requirements[0]} into {DACE.environment}")
    try:
        DACE.install()
    except PeerError as error:
        say(f"compile_time: {error}; the rows ratio_to_dace are not measured")
        return None
    return PeerProcess(DACE)


def measure(options: Options) -> Iterator[Row]:
    """All rows, in the order of the design document."""
    repeats, processes = (3, 3) if options.quick else (11, 9)
    if options.quick:
        say(f"compile_time: quick: medians of {repeats} instead of 11; no case is left out")
    process = start_dace()
    if process is None:
        for case in CASES:
            yield from ratio_rows(None, case, repeats)
    else:
        with process:
            for case in CASES:
                yield from ratio_rows(process, case, repeats)
    yield legality_row(CASES[2], repeats)
    gemm = CASES[0]
    target = f"{gemm.file.relative_to(ROOT)}:{gemm.kernel}"
    compile_gemm = ["compile", target, "--schedule", gemm.schedule, "--emit", "hls-cpp"]
    yield process_row("compile", compile_gemm, 0.7, processes)
    yield process_row("help", ["--help"], 0.15, processes)


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", measure))
