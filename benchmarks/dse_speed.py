"""How long `weft explore` takes to a good design, and what a second worker brings.

Rows `KERNEL`: the command as a user runs it, on PolyBench MEDIUM f32, xcu280 at 3.33 ns, from the
start of its process (imports included) until the design that reaches the target is on record; the
longest over the DSP budgets. The targets are the figures of Stream-HLS (see `benchmarks.dse_quality`),
2.2 times these where nests would have to overlap. ``cpu_seconds`` is the processor time of the whole
command, the report included: about what it takes where nothing else runs.

Rows `workers=2` and `jobs=2`: designs a second through the C simulation of exported projects, which
costs seconds as an RTL evaluator does, with two at work over one: the same designs by the same
processes in turn, and the median over the rounds. Workers are `weft worker` processes, jobs are
processes of the exploration itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import weft
from backends.devices import device
from benchmarks._row import Goal, Options, Row, main, median, say
from benchmarks.dse_quality import CAPS, DATAFLOW, QUICK_CAPS, STREAM_HLS
from dse.evaluators.base import Request, Status
from dse.evaluators.model import personality_for
from dse.evaluators.registry import evaluator
from dse.kernels.data import data_of, packed
from dse.run.folder.codec import key_of, program_digest
from dse.run.folder.directory import create
from dse.run.studies.storage import journal
from dse.run.workers.fanout import PRELOAD_TOOLS, Fanout, Job, Processes
from dse.run.workers.offers import Offers
from dse.space.space import space_of
from dse.strategies.solve import solve

NAME = "dse_speed"
ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "examples" / "polybench"
WEFT = (sys.executable, "-c", "from dse.cli import main; main()")
DEVICE, CLOCK = "xcu280", 3.33
DATAFLOW_MARGIN = 2.2
SECONDS = {"k3mm": 20}
ANY_SECONDS = 10
QUICK_KERNELS = ("gemm", "atax", "k3mm")

COSTLY = "gemm"
DESIGNS, QUICK_DESIGNS = 16, 6
ROUNDS, QUICK_ROUNDS = 5, 1
SPEEDUP = 1.8
_LONG = 1800.0  # seconds for anything


def measure(options: Options) -> Iterator[Row]:
    """All rows."""
    if options.quick:
        say(f"--quick: {', '.join(QUICK_KERNELS)} at {QUICK_CAPS[0]} DSP, one round of workers")
    say(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for kernel in QUICK_KERNELS if options.quick else STREAM_HLS:
        yield from explore_rows(kernel, QUICK_CAPS if options.quick else CAPS)
    yield from fanout_rows(options.quick)


# ---------------------------------------------------------------------------------------- exploring


def explore_rows(kernel: str, caps: Sequence[int]) -> Iterator[Row]:
    """Seconds to the target, the longest over the caps, and of the processor."""
    taken: list[float] = []
    cpu: list[float] = []
    for cap, rival in zip(caps, STREAM_HLS[kernel], strict=False):
        target = rival * (DATAFLOW_MARGIN if kernel in DATAFLOW else 1)
        reached, processor = explored(kernel, cap, target)
        cpu.append(processor)
        if reached is None:
            say(f"{kernel} at {cap} DSP: no design of {target:,.0f} cycles")
        else:
            taken.append(reached)
    longest = max(taken) if len(taken) == len(caps) else None
    goal = Goal("<=", SECONDS.get(kernel, ANY_SECONDS))
    how = f"wall time, load {os.getloadavg()[0]:.1f}"
    yield Row(NAME, kernel, "seconds", longest, "s", goal, how, len(caps))
    yield Row(NAME, kernel, "cpu_seconds", max(cpu), "s", None, "processor time", len(caps))


def explored(kernel: str, cap: int, target: float) -> tuple[float | None, float]:
    """Seconds from the start of the command to a design of so many cycles, and processor time."""
    with tempfile.TemporaryDirectory(prefix="weft-speed-") as folder:
        run = Path(folder) / "run"
        words = [f"{KERNELS}/{kernel}.py:{kernel}", "--out", str(run), "--device", DEVICE,
                 "--clock", str(CLOCK), "--dsp", str(cap), "--reassociate",
                 "--limit", "bram18=100000"]  # fmt: skip
        before, start = _children(), time.time()
        subprocess.run(
            [*WEFT, "explore", *words], cwd=ROOT, check=True, timeout=_LONG, capture_output=True
        )
        processor = _children() - before
        for line in (run / "events.jsonl").read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["event"] == "trial" and event["status"] == Status.OK.value:
                result = json.loads((run / "points" / event["key"] / "result.json").read_text())
                if result["latency"] <= target:
                    return event["time"] - start, processor
    return None, processor


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# ------------------------------------------------------------------------------------------ workers


def fanout_rows(quick: bool) -> Iterator[Row]:
    """Designs a second with two at work over one."""
    jobs = costly_jobs(QUICK_DESIGNS if quick else DESIGNS)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    goal = Goal(">=", SPEEDUP)
    with two_workers() as fanout:
        ratios, rates = speedups(fanout, jobs, rounds)
    how = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    yield Row(NAME, "workers=2", "speedup", median(ratios), "1", goal, how, rounds)
    yield Row(NAME, "workers=2", "designs_per_s", median(rates), "1/s", None, how, rounds)
    with contextlib.closing(Processes(2, _LONG, PRELOAD_TOOLS)) as processes:
        ratios, rates = speedups(processes, jobs, rounds)
    yield Row(NAME, "jobs=2", "speedup", median(ratios), "1", goal, how, rounds)
    yield Row(NAME, "jobs=2", "designs_per_s", median(rates), "1/s", None, how, rounds)


def costly_jobs(count: int) -> list[Job]:
    """C simulations of so many designs, of falling budgets."""
    source = f"{KERNELS}/{COSTLY}.py:{COSTLY}"
    kernel = weft.load(source).at("mini")
    program = kernel.program
    chip = device(DEVICE)
    space = space_of(program, personality_for(chip, CLOCK))
    csim = evaluator("csim", packed(data_of(kernel)), _LONG)
    found: dict[str, Job] = {}
    budget = 100
    while len(found) < count and budget > 5:
        for number in range(len(space.variants)):
            for solution in solve(space, number, budget):
                schedule = space.schedule(solution.point)
                if schedule is not None and len(found) < count:
                    request = Request(program, schedule, chip, CLOCK)
                    key = key_of(request, csim)
                    found[key] = Job(key, csim, request)
        budget //= 2
    return list(found.values())


def speedups(fanout: Fanout, jobs: Sequence[Job], rounds: int) -> tuple[list[float], list[float]]:
    """Of each round the time with one at work over that with two, and designs a second of two."""
    carried_out(fanout, jobs[:2], 2)  # processes are warm
    ratios: list[float] = []
    rates: list[float] = []
    for _ in range(rounds):
        one, two = carried_out(fanout, jobs, 1), carried_out(fanout, jobs, 2)
        ratios.append(one / two)
        rates.append(len(jobs) / two)
    return ratios, rates


def carried_out(fanout: Fanout, jobs: Sequence[Job], width: int) -> float:
    """Seconds for all jobs, at most so many at once."""
    start = time.perf_counter()
    waiting, at_work = list(jobs), 0
    while waiting or at_work:
        while waiting and at_work < width and fanout.free > 0:
            fanout.begin(waiting.pop())
            at_work += 1
        for done in fanout.ended(1.0):
            at_work -= 1
            if done.result is None:
                waiting.append(done.job)
            elif done.result.status is not Status.OK:
                raise RuntimeError(f"a simulation failed: {done.result.detail}")
    return time.perf_counter() - start


@contextlib.contextmanager
def two_workers() -> Iterator[Offers]:
    """Two `weft worker` processes that have joined."""
    source = f"{KERNELS}/{COSTLY}.py:{COSTLY}"
    kernel = data_of(weft.load(source).at("mini"))
    manifest = {
        "kernel": COSTLY, "program": program_digest(kernel.program), "size": "mini",
        "evaluator": "model", "promote": ["csim"], "device": device(DEVICE).part,
        "clock_ns": CLOCK, "source": source, "timeout": _LONG,
        "limits": {}, "latency_limit": None, "objectives": ["latency", "dsp"],
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="weft-speed-") as folder:
        run = create(Path(folder) / "run", manifest)
        offers = Offers(journal(run.journal), "weft", manifest, packed(kernel))
        workers = [
            subprocess.Popen(
                [*WEFT, "worker", str(run.path)], cwd=ROOT,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            for _ in range(2)
        ]  # fmt: skip
        try:
            deadline = time.monotonic() + 120
            while offers.free < 2 * 2:  # each has room for one at work and one in waiting
                if time.monotonic() > deadline:
                    raise RuntimeError("the workers have not joined")
                time.sleep(0.1)
            yield offers
        finally:
            offers.end()
            for worker in workers:
                worker.wait(60)
            run.close()


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure))
