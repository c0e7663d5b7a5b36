"""Random programs under random schedules as RTL: how many give a wrong result or other cycles.

Each program gets a random schedule, pipelined, unrolled and partitioned at random, a random clock
period, and two data sets. Its graph must compute what the interpreter does, and its RTL in
Verilator what the graph does, in exactly the cycles that were predicted. Programs for which there
is no hardware (f64, f16, log, …) do not count. What fails is written to build/fuzz_rtl/.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from backends.isolate import in_child
from benchmarks._row import Goal, Options, Row, main, say
from tests.rtl.support.batch import Case, check
from tests.rtl.support.random_designs import random_case, random_design
from tests.support.trial import Failure

NAME = "fuzz_rtl"
FOLDER = Path(__file__).resolve().parents[1] / "build" / "fuzz_rtl"
PROGRAMS, QUICK_PROGRAMS, QUICK_SECONDS = 2000, 40, 35.0
TOGETHER, QUICK_TOGETHER = 40, 8
"""Seeds whose designs are one simulator."""
SECONDS = 1800


def measure(options: Options) -> Iterator[Row]:
    """Check batch after batch until enough programs have been simulated."""
    extra = options.extra
    wanted = extra.programs or (QUICK_PROGRAMS if options.quick else PROGRAMS)
    together = QUICK_TOGETHER if options.quick else TOGETHER
    deadline = time.time() + QUICK_SECONDS if options.quick else None
    tally: Counter[str] = Counter()
    seed = extra.seed
    with tempfile.TemporaryDirectory() as folder:
        runtime = Path(folder) / "verilated"
        while tally["programs"] < wanted and not (deadline and time.time() > deadline):
            seeds = range(seed, seed + together)
            for fault in _checked(seeds, runtime, tally):
                _write(fault)
            seed = seeds.stop
            if not options.quick:
                say(f"fuzz_rtl: {dict(tally)}")
    if options.quick:
        say(f"fuzz_rtl: quick: {tally['programs']} programs instead of {PROGRAMS}")
    where = f"seeds {extra.seed} to {seed - 1}, {tally['refused']} without hardware"
    row = partial(Row, NAME, "all", unit="1", provenance=where, n=tally["programs"])
    complete = Goal(">=", 1 if options.quick else wanted)
    yield row(metric="programs", value=tally["programs"], goal=complete)
    for metric in ("mismatches", "cycle_mismatches", "crashes"):
        yield row(metric=metric, value=tally[metric], goal=Goal("==", 0))


def _checked(seeds: range, runtime: Path, tally: Counter[str]) -> list[Failure]:
    """Check some seeds in a child; each alone where that ends badly."""
    ended = in_child(partial(_work, seeds, runtime), SECONDS)
    if ended.status == "ok":
        found = json.loads(ended.data)
        tally.update(found["tally"])
        return [_failure(seed, *rest) for seed, *rest in found["failures"]]
    if len(seeds) > 1:
        return [f for s in seeds for f in _checked(range(s, s + 1), runtime, tally)]
    tally.update(programs=1, crashes=1)
    return [_failure(seeds[0], "crash", f"{ended.status}: {ended.detail}")]


def _work(seeds: range, runtime: Path) -> bytes:
    tally: Counter[str] = Counter()
    failures: list[tuple[int, str, str]] = []
    cases: dict[int, Case] = {}
    for seed in seeds:
        try:
            case = random_case(seed, 1 + seeds.start // len(seeds) % 2)
        except AssertionError as error:
            failures.append((seed, "mismatches", str(error)))
        except Exception:  # noqa: BLE001 - finding these is the purpose
            failures.append((seed, "crashes", traceback.format_exc(limit=-4)))
        else:
            if case is None:
                tally["refused"] += 1
            else:
                cases[seed] = case
    if cases:
        with tempfile.TemporaryDirectory() as folder:
            found = check(list(cases.values()), Path(folder), runtime)
        for seed, faults in zip(cases, found, strict=True):
            for fault in faults:
                kind = "cycle_mismatches" if "cycles, not" in fault else "mismatches"
                failures.append((seed, kind, fault))
    tally["programs"] += len(cases) + len({s for s, _, _ in failures if s not in cases})
    tally.update(kind for _, kind in {(seed, kind) for seed, kind, _ in failures})
    return json.dumps({"tally": tally, "failures": failures}).encode()


def _failure(seed: int, kind: str, detail: str) -> Failure:
    program, schedule = random_design(seed)
    return Failure(kind, detail, seed, program, schedule, kind.startswith("crash"))


def _write(failure: Failure) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{failure.seed}-{failure.check}.py"
    path.write_text(failure.report(), encoding="utf-8")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--programs", type=int, metavar="N", help=f"default {PROGRAMS}")
    parser.add_argument("--seed", type=int, default=100_000, metavar="S", help="the first seed")


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", measure, _add_options))
