"""``weft compile``: a kernel with a schedule, printed at the level that is asked for."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from dse.kernels.target import UNSCHEDULED, Target, kernels_of, target, target_options
from dse.views import console
from dse.views.output import format_option, show, table
from dsl.errors.errors import InputError


def _program(what: Target) -> str:
    from dsl.programs.pretty import pretty

    return pretty(what.program)


def _depgraph(what: Target) -> str:
    from polyhedral.dependences.graph import to_json

    return to_json(_graph(what))


def _dot(what: Target) -> str:
    from polyhedral.dependences.graph import to_dot

    return to_dot(_graph(what))


def _graph(what: Target) -> Any:
    from polyhedral.dependences.graph import dependence_graph
    from polyhedral.legality.program import check_program

    return dependence_graph(check_program(what.program))


def _polyhedral(what: Target) -> str:
    from polyhedral.describe import describe
    from polyhedral.schedule import apply

    return describe(apply(what.program, what.schedule))


def _schedule_json(what: Target) -> str:
    return what.schedule.to_json(what.kernel.name)


def _schedule_py(what: Target) -> str:
    return what.schedule.to_python(kernel=what.kernel.name)


# Those that need no MLIR. The others are fields of `mlir_passes.pipeline.Design`.
_EARLY: dict[str, Callable[[Target], str]] = {
    "program": _program,
    "depgraph": _depgraph,
    "depgraph-dot": _dot,
    "polyhedral": _polyhedral,
    "schedule-json": _schedule_json,
    "schedule-py": _schedule_py,
}
LEVELS = ("program", "depgraph", "depgraph-dot", "polyhedral", "affine", "hls-cpp",
          "schedule-json", "schedule-py")  # fmt: skip


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@target_options
@click.option("--emit", type=click.Choice(LEVELS), default="hls-cpp", show_default=True,
              metavar="LEVEL", help=f"What to print: {', '.join(LEVELS)}.")  # fmt: skip
@click.option("--print-after", "after", multiple=True, metavar="PASS",
              help="Also print the MLIR module after a pass, on standard error; 'all' for all. "
              "Repeatable.")  # fmt: skip
@click.option("--timings", is_flag=True, help="Say on standard error how long each part took.")
@click.option("-o", "output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write there instead of standard output.")  # fmt: skip
@click.option("--list", "listed", is_flag=True,
              help="List the kernels of FILE.py with their schedules and sizes.")  # fmt: skip
@format_option
def command(
    kernel: str,
    schedule: str | None,
    size: str | None,
    emit: str,
    after: tuple[str, ...],
    timings: bool,
    output: Path | None,
    listed: bool,
    form: str,
) -> int:
    """Lower a kernel with a schedule and print it at a level.

    \b
    weft compile gemm.py --list
    weft compile gemm.py:gemm --schedule tiled -o gemm.cpp
    weft compile gemm.py:gemm --size NI=64,NJ=64 --emit affine

    --format is for --list, where the schedule '-' is none: the kernel as it stands.
    """
    if listed:
        show("list", ("kernel", "schedules", "sizes"), _listing(kernel), form)
        return 0
    times: dict[str, float] = {}
    with _timed(times, "load"):
        what = target(kernel, schedule, size)
    if emit in _EARLY:
        if after:
            raise click.UsageError(f"--print-after needs --emit affine or hls-cpp, not {emit}")
        with _timed(times, emit):
            text = _EARLY[emit](what)
    else:
        text = _late(what, emit, after, times)
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        write_file(output, text)
    if timings:
        rows = [{"part": part, "ms": 1000 * seconds} for part, seconds in times.items()]
        rows.append({"part": "total", "ms": 1000 * sum(times.values())})
        console.say(table(("part", "ms"), rows).rstrip("\n"))
    return 0


@contextmanager
def _timed(times: dict[str, float], part: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    times[part] = times.get(part, 0.0) + time.perf_counter() - start


def _late(what: Target, emit: str, after: tuple[str, ...], times: dict[str, float]) -> str:
    with _timed(times, "import"):
        from mlir_passes.pipeline import compile_design
    with _timed(times, "read kernel"):
        program = what.program
    design = compile_design(program, what.schedule, print_after=after, listener=_show)
    text = design.affine if emit == "affine" else design.hls_cpp
    times |= design.seconds
    return text


def _show(name: str, text: str) -> None:
    console.say(f"// after {name}\n{text}")


def _listing(spec: str) -> list[dict[str, Any]]:
    return [
        {
            "kernel": name,
            "schedules": [UNSCHEDULED, *kernel.schedules],
            "sizes": list(kernel.sizes),
        }
        for name, kernel in kernels_of(spec).items()
    ]


def write_file(path: Path, text: str) -> None:
    """Write a result; the file is there as a whole or not at all.

    Raises:
        InputError: W508: it cannot be written.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe, /dev/stdout, ...
            path.write_text(text, encoding="utf-8")
            return
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            umask = os.umask(0)
            os.umask(umask)
            Path(name).chmod(path.stat().st_mode if path.exists() else 0o666 & ~umask)
            Path(name).replace(path.resolve())
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError("W508", f"cannot write {path}: {error.strerror}") from error
