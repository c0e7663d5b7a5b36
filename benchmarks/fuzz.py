"""Random programs under random schedules: how many give a wrong result, crash or are refused wrongly.

Each program gets three random schedules. Per step: is what `polyhedral` accepts legal by brute
force, is what it refuses illegal, with a true witness? Per schedule: does the loop tree run every
instance once and in order, do the loop tree with the reference arithmetic, the JIT and (one schedule
of each program) the compiled HLS C++ compute what the interpreter does, and is level 3 proven to be
the program (`backends.equivalence`)? Programs run in child
processes, so that a crash of native code is counted and ends nothing. What fails is made small and
written to build/fuzz/. With --state FILE a run that was interrupted goes on where it was.
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
from dsl.schedules.schedule import Schedule
from tests.support.diagnosis import PROCESS, shrunk
from tests.support.legality_checks import Verdict
from tests.support.levels import Case, check_levels
from tests.support.profiles import BALANCED, CONTROL, FAST, GATHER, LONG, SCATTER, Profile
from tests.support.random_programs import random_program
from tests.support.trial import Failure, run_trial

NAME = "fuzz"
ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "fuzz"
PROGRAMS, QUICK_PROGRAMS, QUICK_SECONDS = 10_000, 200, 40.0
WALKS, QUICK_WALKS = 3, 1
BATCH = 128
"""Programs whose C++ is compiled at once: what they instantiate alike is compiled once."""
TOGETHER = 8
"""Programs that share a child: a fork makes MLIR's and isl's first use of all things anew."""
PROGRAM_SECONDS, BATCH_SECONDS, SHRINK_SECONDS = 120, 1200, 60.0
REPORTS = 50
"""At most so many failures of one worker are made small and written."""


CONTROL_SEEDS = 1_000_000_000
"""From here on, seeds are of programs of control flow alone."""


def profile_of(seed: int) -> Profile:
    """Mostly small programs: they find the same faults in less time."""
    if seed >= CONTROL_SEEDS:
        return CONTROL
    found = (FAST, BALANCED, FAST, BALANCED, GATHER, LONG)[seed % 6]
    return SCATTER if found is GATHER and seed % 4 else found


# ------------------------------------------------------------------------------------ a worker


@dataclass(slots=True)
class _Worker:
    """Checks the programs of some seeds and prints one JSON object for each batch."""

    walks: int
    out: IO[str]
    state: Path | None = None
    reported: int = 0

    def run(self, seeds: range, batches: list[int], deadline: float | None) -> None:
        for batch in batches:
            if deadline is not None and time.time() > deadline:
                return
            tally = self._batch([*seeds[batch * BATCH : (batch + 1) * BATCH]], deadline)
            if self.state is not None:
                line = json.dumps({"seed": seeds[0], "batch": batch, "tally": tally})
                with self.state.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
            print(json.dumps(tally), file=self.out, flush=True)

    def _batch(self, seeds: list[int], deadline: float | None) -> Counter[str]:
        tally: Counter[str] = Counter()
        failures: list[Failure] = []
        cases: list[Case] = []
        for start in range(0, len(seeds), TOGETHER):
            if deadline is not None and time.time() > deadline:
                break
            for seed, found in _some(seeds[start : start + TOGETHER], self.walks):
                tally.update(found["tally"])
                failures += [_failure(f) for f in found["failures"]]
                cases += [_case(seed, text) for text in found["schedules"][:1]]
        failures += _compiled(cases)
        for failure in failures:
            tally[_kind(failure)] += 1
            self._write(failure)
        return tally

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


def _some(seeds: list[int], walks: int) -> list[tuple[int, dict[str, Any]]]:
    """All of some programs but their C++, in one child; in one each where that crashes."""
    ended = in_child(partial(_checked, seeds, walks), PROGRAM_SECONDS * len(seeds))
    if ended.status == "ok":
        return list(zip(seeds, json.loads(ended.data), strict=True))
    if len(seeds) > 1:
        return [pair for seed in seeds for pair in _some([seed], walks)]
    detail = f"{ended.status}: {ended.detail}"
    failure = {"check": PROCESS, "detail": detail, "seed": seeds[0], "schedule": "", "crash": True}
    return [(seeds[0], {"tally": {"programs": 1}, "failures": [failure], "schedules": []})]


def _checked(seeds: list[int], walks: int) -> bytes:
    return json.dumps([_one(seed, walks) for seed in seeds]).encode()


def _one(seed: int, walks: int) -> dict[str, Any]:
    """What came of one program."""
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
    return {
        "tally": tally,
        "failures": [_as_json(f) for f in failures],
        "schedules": [s.to_json() for s in trial.schedules],
    }


def _compiled(cases: list[Case]) -> list[Failure]:
    """The C++ of many programs, in a child; one at a time where that crashes."""

    def work(part: list[Case]) -> bytes:
        found = check_levels(part, jit=False, equivalent=False, chunk=BATCH)
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
    kinds = {"all": options.extra.seed, "control": CONTROL_SEEDS + options.extra.seed}
    chosen = [k for k in kinds if options.extra.kind in (k, "both")]
    for kind in chosen:
        yield from _measured(options, kind, kinds[kind], QUICK_SECONDS / len(chosen))


def _measured(options: Options, kind: str, seed: int, quick_seconds: float) -> Iterator[Row]:
    """The rows of one kind of programs."""
    extra = options.extra
    wanted = extra.programs or (QUICK_PROGRAMS if options.quick else PROGRAMS)
    walks = QUICK_WALKS if options.quick else WALKS
    deadline = time.time() + quick_seconds if options.quick else 0.0
    tally, left = _state(extra.state, seed, -(-wanted // BATCH))
    command = [sys.executable, "-m", "benchmarks.fuzz", "--worker"]
    state = str(extra.state.resolve()) if extra.state else ""
    workers = [
        subprocess.Popen(
            [*command, json.dumps([seed, wanted, left[n :: extra.jobs], walks, deadline, state])],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(extra.jobs)
    ]
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
    where = f"seeds from {seed}, {tally['schedules']} schedules, {tally['steps']} steps decided"
    row = partial(Row, NAME, kind, unit="1", provenance=where, n=done)
    complete = Goal(">=", 1 if options.quick else wanted)
    yield row(metric="programs", value=done, goal=complete)
    yield row(metric="schedules", value=tally["schedules"])
    yield row(metric="refusals", value=tally["refusals"])
    yield row(metric="mismatches", value=tally["mismatches"], goal=Goal("==", 0))
    yield row(metric="crashes", value=tally["crashes"] + lost, goal=Goal("==", 0))
    yield row(metric="false_refusals", value=tally["false_refusals"], goal=Goal("==", 0))


def _state(path: Path | None, seed: int, batches: int) -> tuple[Counter[str], list[int]]:
    """What an earlier run found, and the batches that are left."""
    tally: Counter[str] = Counter()
    left = dict.fromkeys(range(batches))
    if path is not None and path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            found = json.loads(line)
            if found["seed"] == seed and found["batch"] in left:
                del left[found["batch"]]
                tally.update(found["tally"])
    return tally, [*left]


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--programs", type=int, metavar="N", help=f"default {PROGRAMS}")
    parser.add_argument("--seed", type=int, default=1_000_000, metavar="S", help="the first seed")
    parser.add_argument("--kind", choices=("all", "control", "both"), default="both")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="worker processes")
    parser.add_argument("--state", type=Path, metavar="FILE", help="goes on, and is kept, there")


def _work(text: str) -> int:
    first, count, batches, walks, deadline, state = json.loads(text)
    worker = _Worker(walks, sys.stdout, Path(state) if state else None)
    worker.run(range(first, first + count), batches, deadline or None)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        sys.exit(_work(sys.argv[2]))
    sys.exit(main(__doc__ or "", measure, _add_options))
