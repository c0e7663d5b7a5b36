"""Random programs under random schedules: how many give a wrong result, crash or are refused wrongly.

Each program gets three random schedules. Per step: is what `polyhedral` accepts legal by brute
force, is what it refuses illegal, with a true witness? Per schedule: does the loop tree run every
instance once and in order, do the loop tree with the reference arithmetic, the JIT and (one schedule
of each program) the compiled HLS C++ compute what the interpreter does? Each program runs in a
process of its own, so that a crash of native code is counted and ends nothing. What fails is made
small and written to build/fuzz/.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from backends.isolate import in_child
from benchmarks._row import Goal, Options, Row, main, say
from dsl.schedule import Schedule
from tests.support.diagnosis import PROCESS, shrunk
from tests.support.legality_checks import Verdict
from tests.support.levels import Case, check_levels
from tests.support.profiles import BALANCED, FAST, LONG, Profile
from tests.support.random_programs import random_program
from tests.support.trial import Failure, run_trial

NAME = "fuzz"
ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "fuzz"
PROGRAMS, QUICK_PROGRAMS, QUICK_SECONDS = 10_000, 200, 40.0
WALKS, QUICK_WALKS = 3, 1
BATCH = 32
"""Programs whose C++ is compiled at once."""
PROGRAM_SECONDS, BATCH_SECONDS, SHRINK_SECONDS = 120, 1200, 60.0
REPORTS = 50
"""At most so many failures of one worker are made small and written."""


def profile_of(seed: int) -> Profile:
    """Mostly small programs: they find the same faults in less time."""
    return (FAST, BALANCED, FAST, BALANCED, FAST, LONG)[seed % 6]


# ------------------------------------------------------------------------------------ a worker


@dataclass(slots=True)
class _Worker:
    """Checks the programs of some seeds and prints one JSON object for each batch."""

    walks: int
    out: IO[str]
    reported: int = 0

    def run(self, seeds: range, deadline: float | None) -> None:
        for start in range(0, len(seeds), BATCH):
            if deadline is not None and time.time() > deadline:
                return
            self._batch([*seeds[start : start + BATCH]], deadline)

    def _batch(self, seeds: list[int], deadline: float | None) -> None:
        tally: Counter[str] = Counter()
        failures: list[Failure] = []
        cases: list[Case] = []
        for seed in seeds:
            if deadline is not None and time.time() > deadline:
                break
            found = _one(seed, self.walks)
            tally.update(found["tally"])
            failures += [_failure(f) for f in found["failures"]]
            cases += [_case(seed, text) for text in found["schedules"][:1]]
        failures += _compiled(cases)
        for failure in failures:
            tally[_kind(failure)] += 1
            self._write(failure)
        print(json.dumps(tally), file=self.out, flush=True)

    def _write(self, failure: Failure) -> None:
        self.reported += 1
        if self.reported > REPORTS:
            return
        FOLDER.mkdir(parents=True, exist_ok=True)
        stem = f"{failure.seed}-{failure.check.replace('+', 'p').lower()}-{self.reported}"
        (FOLDER / f"{stem}.py").write_text(failure.report(), encoding="utf-8")
        small = shrunk(failure, SHRINK_SECONDS)
        (FOLDER / f"{stem}-small.py").write_text(small.report(), encoding="utf-8")


def _kind(failure: Failure) -> str:
    if failure.crash:
        return "crashes"
    false = failure.detail.startswith(Verdict.FALSELY_REFUSED.value)
    return "false_refusals" if false else "mismatches"


def _one(seed: int, walks: int) -> dict[str, Any]:
    """All of one program but its C++, in a child."""
    ended = in_child(partial(_checked, seed, walks), PROGRAM_SECONDS)
    if ended.status == "ok":
        found: dict[str, Any] = json.loads(ended.data)
        return found
    detail = f"{ended.status}: {ended.detail}"
    failure = {"check": PROCESS, "detail": detail, "seed": seed, "schedule": "", "crash": True}
    return {"tally": {"programs": 1}, "failures": [failure], "schedules": []}


def _checked(seed: int, walks: int) -> bytes:
    trial = run_trial(seed, profile_of(seed), walks)
    cases = [Case(seed, trial.program, schedule) for schedule in trial.schedules]
    failures = [*trial.failures, *check_levels(cases, cxx=False)]
    refused = trial.verdicts[Verdict.REFUSED]
    tally = {
        "programs": 1,
        "schedules": len(cases),
        "refusals": refused,
        "steps": trial.verdicts[Verdict.ACCEPTED] + refused,
    }
    found = {
        "tally": tally,
        "failures": [_as_json(f) for f in failures],
        "schedules": [s.to_json() for s in trial.schedules],
    }
    return json.dumps(found).encode()


def _compiled(cases: list[Case]) -> list[Failure]:
    """The C++ of many programs, in a child; one at a time where that crashes."""

    def work(part: list[Case]) -> bytes:
        found = check_levels(part, jit=False, chunk=BATCH)
        return json.dumps([_as_json(f) for f in found]).encode()

    ended = in_child(partial(work, cases), BATCH_SECONDS)
    if ended.status == "ok":
        return [_failure(f) for f in json.loads(ended.data)]
    if len(cases) > 1:
        return [f for case in cases for f in _compiled([case])]
    (case,) = cases
    detail = f"{ended.status}: {ended.detail}"
    return [Failure(PROCESS, detail, case.seed, case.program, case.schedule, crash=True)]


def _as_json(failure: Failure) -> dict[str, Any]:
    return {
        "check": failure.check,
        "detail": failure.detail,
        "seed": failure.seed,
        "schedule": failure.schedule.to_json(),
        "crash": failure.crash,
    }


def _failure(data: dict[str, Any]) -> Failure:
    seed = data["seed"]
    profile = profile_of(seed)
    schedule = Schedule.from_json(data["schedule"]) if data["schedule"] else Schedule()
    program = random_program(seed, profile)
    check, detail, crash = data["check"], data["detail"], data["crash"]
    return Failure(check, detail, seed, program, schedule, crash, profile.name)


def _case(seed: int, schedule: str) -> Case:
    return Case(seed, random_program(seed, profile_of(seed)), Schedule.from_json(schedule))


# ------------------------------------------------------------------------------------ the parent


def measure(options: Options) -> Iterator[Row]:
    """Share the programs among worker processes, add up what they print."""
    extra = options.extra
    wanted = extra.programs or (QUICK_PROGRAMS if options.quick else PROGRAMS)
    walks = QUICK_WALKS if options.quick else WALKS
    deadline = time.time() + QUICK_SECONDS if options.quick else 0.0
    command = [sys.executable, "-m", "benchmarks.fuzz", "--worker"]
    workers = [
        subprocess.Popen(
            [
                *command,
                json.dumps([extra.seed + n, extra.seed + wanted, extra.jobs, walks, deadline]),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(extra.jobs)
    ]
    tally: Counter[str] = Counter()
    for worker in workers:
        assert worker.stdout is not None
        for line in worker.stdout:
            tally.update(json.loads(line))
            if not options.quick:
                say(f"fuzz: {dict(tally)}")
    lost = sum(worker.wait() != 0 for worker in workers)
    done = tally["programs"]
    if options.quick:
        say(f"fuzz: quick: {done} programs and one schedule each instead of {PROGRAMS} and {WALKS}")
    where = (
        f"seeds from {extra.seed}, {tally['schedules']} schedules, {tally['steps']} steps decided"
    )
    row = partial(Row, NAME, "all", unit="1", provenance=where, n=done)
    complete = Goal(">=", 1 if options.quick else wanted)
    yield row(metric="programs", value=done, goal=complete)
    yield row(metric="schedules", value=tally["schedules"])
    yield row(metric="refusals", value=tally["refusals"])
    yield row(metric="mismatches", value=tally["mismatches"], goal=Goal("==", 0))
    yield row(metric="crashes", value=tally["crashes"] + lost, goal=Goal("==", 0))
    yield row(metric="false_refusals", value=tally["false_refusals"], goal=Goal("==", 0))


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--programs", type=int, metavar="N", help=f"default {PROGRAMS}")
    parser.add_argument("--seed", type=int, default=1_000_000, metavar="S", help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="worker processes")


def _work(text: str) -> int:
    first, end, stride, walks, deadline = json.loads(text)
    _Worker(walks, sys.stdout).run(range(first, end, stride), deadline or None)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        sys.exit(_work(sys.argv[2]))
    sys.exit(main(__doc__ or "", measure, _add_options))
