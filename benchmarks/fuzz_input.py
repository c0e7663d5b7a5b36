"""Inputs put wrong, of every kind: how many end in a traceback or do not end.

Mutated kernels (their trees and their tokens), schedules in Python and in JSON, programs of
`weft.Program`, command lines, tables, weights, and damaged folders of runs. Each is a command line
in a process of its own: it succeeds, or it says with a code or a usage line what is wrong. Anything
else is a traceback (exit code 70, a crash, more memory than a laptop has), and what takes more than
20 s of processor time, or minutes on the clock, is a hang. What fails is written to
build/fuzz_input/ with its seed; `--case SEED` runs it again.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from backends.isolate import Isolated, in_child
from benchmarks._row import Goal, Options, Row, main, say
from tests.support.input_cases import HERE, RUN, InputCase, damaged, input_case
from tests.support.input_materials import materials

NAME = "fuzz_input"
ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "fuzz_input"
CASES, QUICK_CASES, QUICK_SECONDS = 10_000, 400, 45.0
CPU_SECONDS, WALL_SECONDS = 20, 180.0
MEMORY = 8 << 30
"""Bytes of addresses: LLVM and OpenBLAS reserve some that they never touch."""
REPORTS = 60
FINE = (0, 1, 2, 3)
_MESSAGE = re.compile(
    r"error\[W\d+\]|Usage:|Error:|differ|does not fit|no design|nothing|infinite or NaN", re.I
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a case ended: ``fine``, ``traceback`` or ``hang``, its exit code and its output."""

    verdict: str
    code: int
    seconds: float
    text: str


def outcome_of(case: InputCase, run: Path | None, folder: Path) -> Outcome:
    """Write the files of a case into ``folder``, and run its command line in a child."""
    arguments = _written(case, run, folder)
    start = time.monotonic()
    ended = in_child(partial(_run, arguments, folder), WALL_SECONDS)
    return judged(ended, time.monotonic() - start)


def judged(ended: Isolated, seconds: float) -> Outcome:
    """How a case ended, by what its process left."""
    match ended.status:
        case "ok":
            found = json.loads(ended.data)
            code, text = found["code"], found["text"]
            is_fine = code in FINE and "Traceback (most recent call last)" not in text
            # A simulation of many cycles is what was asked for: it ends by the limit set here.
            if code == 1 and not _MESSAGE.search(text) and "SIGXCPU" not in text:
                is_fine = False  # it failed, and did not say why
            return Outcome("fine" if is_fine else "traceback", code, seconds, text)
        case "crash" if ended.detail == "SIGXCPU":
            return Outcome("hang", -1, seconds, f"more than {CPU_SECONDS} s of processor time")
        case "timeout":
            return Outcome("hang", -1, seconds, ended.detail)
        case _:
            return Outcome("traceback", -1, seconds, f"{ended.status}: {ended.detail}")


def _written(case: InputCase, run: Path | None, folder: Path) -> list[str]:
    """The case's files, and its command line with the folders' names."""
    copy = folder / "run"
    if case.uses_run() and run is not None:
        shutil.copytree(run, copy)
    for name, data in case.files.items():
        file = copy / name.removeprefix("damage:") if name.startswith("damage:") else folder / name
        if name.startswith("damage:"):
            if file.is_file():
                file.write_bytes(damaged(case.seed, file.read_bytes()))
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    if case.kind == "run":
        tutorial = (ROOT / "examples/tutorial/axpy.py").read_bytes()
        (folder / "k.py").write_bytes(tutorial)
    return [a.replace(HERE, str(folder)).replace(RUN, str(copy)) for a in case.arguments]


def _run(arguments: list[str], folder: Path) -> bytes:
    """In the child: the exit code of a command line and what it printed, as JSON."""
    from dse import cli

    cpu = CPU_SECONDS + int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(folder)
    text = io.StringIO()
    with redirect_stdout(text), redirect_stderr(text):
        code = cli.run(arguments)
    found = {"code": code, "text": text.getvalue()[-20_000:]}
    return json.dumps(found).encode()


# ------------------------------------------------------------------------------ many of them


def made_run(folder: Path) -> Path:
    """A small run of `weft explore`, whose files are damaged."""
    kernel = ROOT / "examples/tutorial/axpy.py"
    out = folder / "a run"
    done = subprocess.run(
        [sys.executable, "-m", "weft", "explore", f"{kernel}:axpy", "--size", "mini", "--trials", "3",
         "--out", str(out)],
        capture_output=True, cwd=ROOT, timeout=300,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return out


def files_of(run: Path) -> tuple[str, ...]:
    """The files of a run, relative to its folder."""
    return tuple(sorted(str(f.relative_to(run)) for f in run.rglob("*") if f.is_file()))


def check(seeds: range, deadline: float | None = None) -> Iterator[tuple[InputCase, Outcome]]:
    """The cases of these seeds one by one, each with how it ended."""
    _import_all()
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        run = made_run(base)
        for seed in seeds:
            if deadline is not None and time.time() > deadline:
                return
            case = input_case(seed, files_of(run))
            folder = base / "case"
            folder.mkdir()
            try:
                yield case, outcome_of(case, run, folder)
            finally:
                shutil.rmtree(folder)


def _import_all() -> None:
    """What a command needs is imported once, not in each child."""
    from dse.cli import COMMANDS

    for command in COMMANDS:
        importlib.import_module(f"dse.commands.{command}")
    for module in ("polyhedral.codegen.generate", "mlir_passes.pipeline", "mlir_passes.emit.hls",
                   "backends.verify", "backends.vitis.project", "dse.estimates.estimation", "torch", "optuna"):  # fmt: skip
        importlib.import_module(module)
    materials()


def report(case: InputCase, outcome: Outcome) -> str:
    """All that is needed to see the failure again."""
    files = "\n".join(
        f"--- {name}\n{data[:20_000].decode(errors='replace')}" for name, data in case.files.items()
    )
    return (
        f"seed {case.seed}, {case.kind}: {outcome.verdict}, exit {outcome.code}, "
        f"{outcome.seconds:.1f} s\npython -m benchmarks.fuzz_input --case {case.seed}\n"
        f"weft {' '.join(case.arguments)}\n{outcome.text}\n{files}\n"
    )


def measure(options: Options) -> Iterator[Row]:
    """Run the cases, write down those that fail."""
    extra = options.extra
    if extra.case is not None:
        for case, outcome in check(range(extra.case, extra.case + 1)):
            say(report(case, outcome))
    count = (
        1 if extra.case is not None else extra.cases or (QUICK_CASES if options.quick else CASES)
    )
    first = extra.seed if extra.case is None else extra.case
    deadline = time.time() + QUICK_SECONDS if options.quick else None
    tally: Counter[str] = Counter()
    slowest = 0.0
    for case, outcome in check(range(first, first + count), deadline):
        tally["cases"] += 1
        tally[outcome.verdict] += 1
        slowest = max(slowest, outcome.seconds)
        if outcome.verdict != "fine" and tally["reports"] < REPORTS:
            tally["reports"] += 1
            FOLDER.mkdir(parents=True, exist_ok=True)
            file = FOLDER / f"{case.seed}-{case.kind.replace(' ', '_')}.txt"
            file.write_text(report(case, outcome), encoding="utf-8", errors="replace")
        if tally["cases"] % 250 == 0:
            say(f"{NAME}: {dict(tally)}")
    if options.quick:
        say(f"{NAME}: quick: {tally['cases']} cases instead of {CASES}")
    row = partial(Row, NAME, "all", unit="1", provenance=f"seeds from {first}", n=tally["cases"])
    yield row(metric="cases", value=tally["cases"], goal=Goal(">=", 1 if options.quick else count))
    yield row(metric="tracebacks", value=tally["traceback"], goal=Goal("==", 0))
    yield row(metric="hangs", value=tally["hang"], goal=Goal("==", 0))
    yield row(metric="slowest_s", value=slowest, unit="s")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cases", type=int, metavar="N", help=f"default {CASES}")
    parser.add_argument("--seed", type=int, default=2_000_000, metavar="S", help="the first seed")
    parser.add_argument("--case", type=int, metavar="SEED", help="one case, and all that it says")


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", measure, _add_options))
