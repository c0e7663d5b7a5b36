"""Random programs and schedules: how many estimates are under what is proven to be needed.

The programs are full of recurrences (`tests.support.random_recurrences`). Each is estimated under a
random schedule with every tool personality. An interval below what brute force over the iterations
needs (`tests.support.qor_oracle`), by its recurrences or its ports, is an II violation; a latency
below a lower bound that `weft explore` prints is a bound violation. Of some designs the same is
asked of the open backend's own scheduler, whose cycles are those of its simulation. What fails is
made small and written to build/fuzz_qor/.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks._row import Goal, Options, Row, main, say
from dsl.errors.errors import WeftError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from polyhedral.schedule import apply
from tests.support.qor_checks import bound_faults, interval_faults, open_faults
from tests.support.random_recurrences import random_directives, random_recurrence
from tests.support.shrink import shrink
from tests.support.trial import Failure

NAME = "fuzz_qor"
ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "fuzz_qor"
PROGRAMS, QUICK_PROGRAMS, QUICK_SECONDS = 10_000, 150, 35.0
OPEN_EVERY = 16
"""Every so many programs are scheduled by the open backend too, which takes a second."""
GUARDS_EVERY = 3
"""Of every so many programs the innermost loops are unrolled under guards, sums in parts among them."""
TOGETHER = 20
SHRINK_SECONDS = 30.0
REPORTS = 20
"""At most so many failures of one worker are made small and written."""

Check = Callable[[Program, Schedule], list[str]]


def intervals(program: Program, schedule: Schedule) -> list[str]:
    """Intervals under what is needed."""
    return [*interval_faults(schedule, apply(program, schedule))]


def latencies(program: Program, schedule: Schedule) -> list[str]:
    """Latencies under a lower bound."""
    return [*bound_faults(program, schedule, apply(program, schedule))]


def scheduled(program: Program, schedule: Schedule) -> list[str]:
    """The same of the open backend's scheduler."""
    return [*open_faults(program, schedule, apply(program, schedule))]


CHECKS: dict[str, tuple[Check, str]] = {
    "intervals": (intervals, "ii_violations"),
    "latencies": (latencies, "bound_violations"),
    "scheduled": (scheduled, "bound_violations"),
}


# ------------------------------------------------------------------------------------ a worker


def _checked(seed: int) -> tuple[Counter[str], list[Failure]]:
    """What came of one program."""
    program = random_recurrence(seed)
    rng = random.Random(seed)
    schedule, _ = random_directives(rng, program, guards=seed % GUARDS_EVERY == 0)
    tally = Counter(programs=1)
    failures = []
    for name, (check, metric) in CHECKS.items():
        if name == "scheduled" and seed % OPEN_EVERY:
            continue
        try:
            faults = check(program, schedule)
        except Exception:  # noqa: BLE001 - finding these is the purpose
            tally["crashes"] += 1
            text = traceback.format_exc(limit=-4)
            failures.append(Failure(name, text, seed, program, schedule, crash=True))
            continue
        if faults:
            tally[metric] += 1
            failures.append(Failure(name, faults[0], seed, program, schedule))
    return tally, failures


def _small(failure: Failure) -> Failure:
    """The smallest program and schedule found that fail in the same way."""
    check, end = CHECKS[failure.check][0], time.monotonic() + SHRINK_SECONDS
    tool = failure.detail.partition(":")[0]

    def fault(program: Program, schedule: Schedule) -> str | None:
        try:
            found = check(program, schedule)
        except WeftError:
            return None  # a smaller schedule may not be legal any more
        return next((f for f in found if f.partition(":")[0] == tool), None)

    def fails(program: Program, schedule: Schedule) -> bool:
        return time.monotonic() < end and fault(program, schedule) is not None

    program, schedule = shrink(failure.program, failure.schedule, fails)
    detail = fault(program, schedule) or failure.detail
    return replace(failure, program=program, schedule=schedule, detail=detail)


def _work(text: str) -> int:
    """Check some seeds, and print one JSON object for each few of them."""
    first, stop, step, deadline = json.loads(text)
    seeds = range(first, stop, step)
    reported = 0
    for start in range(0, len(seeds), TOGETHER):
        tally: Counter[str] = Counter()
        for seed in seeds[start : start + TOGETHER]:
            if deadline and time.time() > deadline:
                break
            own, failures = _checked(seed)
            tally += own
            for failure in failures[: max(0, REPORTS - reported)]:
                reported += 1
                small = failure if failure.crash or deadline else _small(failure)
                FOLDER.mkdir(parents=True, exist_ok=True)
                path = FOLDER / f"{seed}-{failure.check}.py"
                path.write_text(small.report(), encoding="utf-8")
        print(json.dumps(tally), flush=True)
    return 0


# ------------------------------------------------------------------------------------ the parent


def measure(options: Options) -> Iterator[Row]:
    """Share the programs among worker processes, add up what they print."""
    extra = options.extra
    wanted = extra.programs or (QUICK_PROGRAMS if options.quick else PROGRAMS)
    deadline = time.time() + QUICK_SECONDS if options.quick else 0.0
    command = [sys.executable, "-m", "benchmarks.fuzz_qor", "--worker"]
    stop = extra.seed + wanted
    parts = [[extra.seed + n, stop, extra.jobs, deadline] for n in range(extra.jobs)]
    workers = [
        subprocess.Popen(
            [*command, json.dumps(part)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for part in parts
    ]  # fmt: skip
    tally: Counter[str] = Counter()
    for worker in workers:
        assert worker.stdout is not None
        for line in worker.stdout:
            tally.update(json.loads(line))
            if not options.quick:
                say(f"fuzz_qor: {dict(tally)}")
    lost = sum(worker.wait() != 0 for worker in workers)
    done = tally["programs"]
    if options.quick:
        say(f"fuzz_qor: quick: {done} programs instead of {PROGRAMS}")
    where = f"seeds from {extra.seed}, every {OPEN_EVERY}th by the open backend's scheduler too"
    row = partial(Row, NAME, "all", unit="1", provenance=where, n=done)
    complete = Goal(">=", 1 if options.quick else wanted)
    yield row(metric="programs", value=done, goal=complete)
    yield row(metric="bound_violations", value=tally["bound_violations"], goal=Goal("==", 0))
    yield row(metric="ii_violations", value=tally["ii_violations"], goal=Goal("==", 0))
    yield row(metric="crashes", value=tally["crashes"] + lost, goal=Goal("==", 0))


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--programs", type=int, metavar="N", help=f"default {PROGRAMS}")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="worker processes")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        sys.exit(_work(sys.argv[2]))
    sys.exit(main(__doc__ or "", measure, _add_options))
