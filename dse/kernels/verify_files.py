"""Verifying every kernel of many files: what to do for one file, and its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dse.kernels.target import (
    DEFAULT_SIZE,
    UNSCHEDULED,
    chosen,
    has_size,
    kernels_of,
    size_values,
    sized,
)
from dsl.errors.errors import InputError, WeftError

if TYPE_CHECKING:
    from backends.verify import VerifyResult
    from dsl.arrays.inputs import InputMaker
    from mlir_passes.pipeline import Design

COLUMNS = (
    *("kernel", "schedule", "size", "status", "interp", "jit", "cxx"),
    *("max_ulp", "tolerance_ulp", "seconds", "detail"),
)
PROOF_COLUMNS = ("kernel", "schedule", "size", "status", "seconds", "detail")
PRELOAD = (
    "backends.verify",
    "mlir_passes.pipeline",
    "mlir_passes.cpu.jit",
    "dse.kernels.verify_files",
)


@dataclass(frozen=True, slots=True)
class Options:
    """How to verify (see `backends.verify.verify_many`), or to prove (see `proof_row`) instead."""

    seed: int = 0
    trials: int = 1
    cxx: bool = True
    sanitize: bool = False
    prove: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """One row to be: a kernel of a file under one of its schedules, at a size."""

    file: str
    kernel: str
    schedule: str
    size: str


@dataclass(frozen=True, slots=True)
class FileTask:
    """Some pairs of one file, to be done in one process."""

    pairs: tuple[Pair, ...]
    options: Options


def python_files(folder: Path) -> list[Path]:
    """The Python files in a folder and below, in order, hidden ones and caches left out.

    Raises:
        InputError: W502: there is no such folder.
    """
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        instead = "name a folder of kernels, or a file, by its path from here"
        raise InputError("W502", f"there is no folder {folder}", help=instead)
    found = (p for p in sorted(folder.rglob("*.py")) if p.name != "__init__.py")
    hidden = (".", "__")
    return [p for p in found if not any(
        part.startswith(hidden) for part in p.relative_to(folder).parts)]  # fmt: skip


def pairs_of(file: Path, size: str | None) -> tuple[list[Pair], list[Pair]]:
    """Every kernel of a file with no schedule and with each of its own.

    Args:
        file: The file; it is executed.
        size: The size for all; None for ``mini`` where a kernel has it, else its default.

    Returns:
        Those to do, and those of kernels without that size.

    Raises:
        WeftError: It cannot be loaded.
    """
    found: list[Pair] = []
    without: list[Pair] = []
    for name, kernel in kernels_of(str(file)).items():
        mine = size or ("mini" if "mini" in kernel.sizes else DEFAULT_SIZE)
        pairs = [Pair(str(file), name, s, mine) for s in (UNSCHEDULED, *kernel.schedules)]
        (found if has_size(kernel, mine) else without).extend(pairs)
    return found, without


def verify_pairs(task: FileTask) -> list[dict[str, Any]]:
    """The rows of some pairs of one file; their C++ is compiled together."""
    from backends.verify import verify_many
    from mlir_passes.pipeline import compile_design

    if task.options.prove:
        return [_proven(pair) for pair in task.pairs]
    rows: dict[Pair, dict[str, Any]] = {}
    designs: dict[Pair, Design] = {}
    makers: list[InputMaker] = []
    for pair in task.pairs:
        try:
            kernel = sized(kernels_of(f"{pair.file}:{pair.kernel}")[pair.kernel], pair.size)
            design = compile_design(kernel.program, chosen(kernel, pair.schedule)[0])
            _ = design.module  # now: an error here is that of this pair
        except WeftError as error:
            rows[pair] = failed_row(pair, error.render())
        else:
            designs[pair] = design
            makers.append(kernel.make_inputs)
    options = task.options
    results = verify_many(
        list(designs.values()),
        options.seed,
        options.trials,
        cxx=options.cxx,
        sanitize=options.sanitize,
        make_inputs=makers,
    )
    rows |= {pair: row_of(pair, r) for pair, r in zip(designs, results, strict=True)}
    return [rows[pair] for pair in task.pairs]


def _proven(pair: Pair) -> dict[str, Any]:
    from mlir_passes.pipeline import compile_design

    try:
        kernel = sized(kernels_of(f"{pair.file}:{pair.kernel}")[pair.kernel], pair.size)
        return proof_row(pair, compile_design(kernel.program, chosen(kernel, pair.schedule)[0]))
    except WeftError as error:
        return failed_row(pair, error.render())


def proof_row(pair: Pair, design: Design) -> dict[str, Any]:
    """What is known, without any data, of level 3 of a design, as a row.

    Its status is ``proven``, ``refuted`` or ``not proven``.

    Raises:
        ScheduleError: the schedule is not legal.
    """
    from backends.equivalence import equivalence

    found = equivalence(design)
    return {
        "file": pair.file,
        "kernel": pair.kernel,
        "schedule": pair.schedule,
        "size": pair.size,
        "status": found.verdict,
        "seconds": round(found.seconds, 3),
        "detail": found.error.render() if found.error else found.detail,
    }


def row_of(pair: Pair, result: VerifyResult) -> dict[str, Any]:
    """One result as a row."""
    levels = {"interp": result.interp, "jit": result.jit, "cxx": result.cxx}
    details = [f"{n}: {level.detail}" for n, level in levels.items() if level.detail]
    return {
        "file": pair.file,
        "kernel": pair.kernel,
        "schedule": pair.schedule,
        "size": pair.size,
        "status": "ok" if result.ok else "failed",
        "interp": result.interp.status,
        "jit": result.jit.status,
        "cxx": result.cxx.status,
        "max_ulp": result.max_ulp,
        "tolerance_ulp": result.tolerance,
        "inexact": list(result.inexact),
        "seed": result.seed,
        "trials": result.trials,
        "seconds": round(result.seconds, 3),
        "detail": "; ".join(details),
    }


def failed_row(pair: Pair, detail: str, status: str = "failed") -> dict[str, Any]:
    """A row of what did not get as far as being compared."""
    return {
        "file": pair.file,
        "kernel": pair.kernel,
        "schedule": pair.schedule,
        "size": pair.size,
        "status": status,
        **dict.fromkeys(("interp", "jit", "cxx", "max_ulp", "tolerance_ulp", "seconds")),
        "detail": detail,
    }


def verify_all(
    files: Sequence[Path], size: str | None, options: Options, jobs: int, seconds: float
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Verify all files in parallel; yields the number of pairs in all and some finished rows.

    Kernels without that size have rows with the status ``skipped``.

    Args:
        files: Python files with kernels.
        size: See `pairs_of`.
        options: How.
        jobs: Processes at once.
        seconds: Limit for each file.

    Raises:
        InputError: W506: ``size`` is no size, or none of the kernels has it.
    """
    from dse.workers import run_tasks

    if size is not None:
        size_values(size)  # what is written wrong is wrong for all
    pairs: list[Pair] = []
    without: list[Pair] = []
    broken: list[dict[str, Any]] = []
    for file in files:
        try:
            found, others = pairs_of(file, size)
        except WeftError as error:
            broken.append(failed_row(Pair(str(file), "", "", ""), error.render()))
        else:
            pairs += found
            without += others
    if without and not pairs:
        names = dict.fromkeys(pair.kernel for pair in without)
        raise InputError(
            "W506", f"none of {', '.join(names)} has the size '{size}'",
            help="weft compile FILE.py --list shows the sizes of kernels",
        )  # fmt: skip
    total = len(pairs) + len(without) + len(broken)
    yield total, broken
    yield total, [failed_row(pair, f"it has no size '{size}'", "skipped") for pair in without]
    by_file: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        by_file.setdefault((pair.file, pair.kernel), []).append(pair)
    tasks = [FileTask(tuple(group), options) for group in by_file.values()]
    while tasks:
        again: list[FileTask] = []
        for ended in run_tasks(verify_pairs, tasks, jobs, seconds, PRELOAD):
            if ended.result is not None:
                yield total, ended.result
            elif len(ended.task.pairs) > 1:
                # One of them brought the process down: find out which.
                again += [FileTask((pair,), options) for pair in ended.task.pairs]
            else:
                yield total, [failed_row(ended.task.pairs[0], ended.failure)]
        tasks = again
