"""``weft verify``: do interpreter, JIT and compiled HLS C++ agree?"""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import click

from dse.kernels.target import Target, target, target_options
from dse.views import console
from dse.views.output import format_option, show
from dsl.errors.errors import InputError


@click.command()
@click.argument("kernel", required=False, metavar="[FILE.py:KERNEL]")
@target_options
@click.option("--all", "folder", type=click.Path(path_type=Path), metavar="DIR",
              help="Verify every kernel of the files in DIR, with no schedule and with each of its "
              "own; size: mini, where there is one.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              metavar="N", help="Of the inputs.")  # fmt: skip
@click.option("--trials", type=click.IntRange(1, 10_000), default=1, show_default=True,
              metavar="N", help="Sets of inputs.")  # fmt: skip
@click.option("--equivalence", "prove", is_flag=True,
              help="Run nothing: prove that level 3, after all passes, does what the kernel "
              "says.")  # fmt: skip
@click.option("--no-cxx", is_flag=True, help="Leave out the C++ level (needs no g++).")
@click.option("--sanitize", is_flag=True,
              help="Compile the C++ with address and undefined-behaviour sanitizers.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), metavar="N",
              help="With --all: processes at once. Default: one for each core.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=1), default=900, show_default=True,
              metavar="S", help="With --all: seconds for each kernel.")  # fmt: skip
@format_option
def command(
    kernel: str | None,
    schedule: str | None,
    size: str | None,
    folder: Path | None,
    seed: int,
    trials: int,
    prove: bool,
    no_cxx: bool,
    sanitize: bool,
    jobs: int | None,
    timeout: float,
    form: str,
) -> int:
    """Check that interpreter, JIT and compiled HLS C++ agree.

    \b
    weft verify gemm.py:gemm --schedule tiled --trials 5
    weft verify --all examples
    weft verify --all examples --equivalence

    Inputs are those of the kernel's own function (@kernel.inputs), or random.
    Integers, fixed point and floats must agree to the last bit; reassociated reductions and exp,
    log, tanh within a stated tolerance. Exits with 1 when something differs, or when all results
    are infinite or NaN, which shows nothing.

    With --equivalence nothing is run: each iteration of the kernel is executed once, in an order
    that keeps every dependence, and computes the same, or the pair that proves the contrary is
    shown and the exit code is 1. What can be neither proven nor refuted is said.
    """
    from dse.kernels.verify_files import COLUMNS, PROOF_COLUMNS, Options

    if prove:
        _nothing_is_run("seed", "trials", "no_cxx", "sanitize")
    options = Options(seed, trials, not no_cxx, sanitize, prove)
    if (kernel is None) == (folder is None):
        raise click.UsageError("name one kernel, or --all DIR")
    if folder is not None:
        if schedule is not None:
            raise click.UsageError("--schedule goes with one kernel, not with --all")
        rows = _all(folder, size, options, jobs or os.cpu_count() or 1, timeout)
    else:
        assert kernel is not None
        what = target(kernel, schedule, size)
        rows = [_one(kernel, what, options)]
        console.show_notes(what.program)
    # In a table the details, which may be long, come after it.
    columns: tuple[str, ...] = PROOF_COLUMNS if prove else COLUMNS
    if form == "table":
        columns = tuple(c for c in columns if c != "detail")
    # A file that cannot be loaded has no kernels to name.
    shown = [{**row, "kernel": _name(row)} for row in rows] if form == "table" else rows
    show("verify", columns, shown, form)
    if form == "table":
        for row in rows:
            if row["detail"] and row["status"] != "skipped":
                console.say(
                    f"{_name(row)} {row['schedule']}: {row['detail']}".replace(" :", ":", 1)
                )
    return int(any(row["status"] in ("failed", "refuted") for row in rows))


def _nothing_is_run(*names: str) -> None:
    """What says how to run goes with running only."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = next(p.opts[0] for p in context.command.params if p.name == name)
            raise click.UsageError(f"{option} does not go with --equivalence, which runs nothing")


def _name(row: dict[str, Any]) -> str:
    return str(row["kernel"] or row["file"])


def _one(spec: str, what: Target, options: Any) -> dict[str, Any]:
    from backends.run_size import check_run_size
    from backends.verify import verify
    from dse.kernels.verify_files import Pair, proof_row, row_of
    from mlir_passes.pipeline import compile_design

    file = spec.rpartition(":")[0] or spec
    pair = Pair(file, what.kernel.name, what.schedule_name, what.size)
    if options.prove:
        return proof_row(pair, compile_design(what.program, what.schedule))
    check_run_size(what.program)
    with console.patience("verify: running it at every level (a smaller --size takes less)"):
        result = verify(
            what.program,
            what.schedule,
            options.seed,
            options.trials,
            cxx=options.cxx,
            sanitize=options.sanitize,
            make_inputs=what.kernel.make_inputs,
        )
    return row_of(pair, result)


def _all(
    folder: Path, size: str | None, options: Any, jobs: int, timeout: float
) -> list[dict[str, Any]]:
    from dse.kernels.verify_files import python_files, verify_all

    files = python_files(folder)
    rows: list[dict[str, Any]] = []
    start = time.monotonic()
    with console.progress("verify") as progress:
        for total, finished in verify_all(files, size, options, jobs, timeout):
            rows += finished
            if finished:
                progress(len(rows), total, f"{_name(finished[-1])} {finished[-1]['status']}")
    if not rows:
        raise InputError("W507", f"no file in {folder} defines a kernel")
    rows.sort(key=lambda row: (row["file"], row["kernel"]))
    count = Counter(row["status"] for row in rows)
    skipped = count["skipped"]
    done, said = (count["proven"], "proven") if options.prove else (count["ok"], "agree")
    console.say(
        f"verify: {done} of {len(rows) - skipped} {said}, {time.monotonic() - start:.0f} s"
        + (f"; {skipped} skipped: their kernels have no size '{size}'" if skipped else "")
    )
    return rows
