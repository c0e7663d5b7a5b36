"""``weft worker``: evaluate points of an exploration that runs elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dse.commands.explore_options import storage_options
from dse.commands.stopping import stop_once
from dse.kernels.target import UNSCHEDULED, target
from dse.views import console
from dse.views.output import format_option, show

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

    from dse.evaluators.base import Result
    from dse.run.workers.offers import Board
    from dsl.stored.kernel import StoredKernel

INTERRUPTED = 130
Made = TypeVar("Made")
_POLL = 0.5  # seconds between looks for a study that is not there yet


@click.command()
@click.argument("folder", metavar="[RUN]", required=False, type=click.Path(path_type=Path))
@storage_options
@click.option("--kernel", metavar="FILE.py:KERNEL",
              help="Run this file for the kernel. Default: the study has it as data.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
              help="Evaluations at once.")  # fmt: skip
@click.option("--idle", type=click.FloatRange(min=0), default=60, show_default=True, metavar="S",
              help="Leave when there was nothing to do for so many seconds.")  # fmt: skip
@format_option
def command(
    folder: Path | None,
    storage: str | None,
    storage_wait: float,
    study: str | None,
    cache: Path | None,
    kernel: str | None,
    jobs: int,
    idle: float,
    form: str,
) -> int:
    """Take points from a study and evaluate them, until the exploration ends.

    \b
    weft worker --storage URL --study NAME
    weft worker RUN                    (explored with --open, its folder shared)

    It needs the same Weft as weft explore. The kernel comes from the study, as data: nobody's Python
    is run. Ctrl-C once finishes what is under way, twice gives it back.
    """
    from dse.estimates.estimation import setting
    from dse.run.folder.cache import ResultCache
    from dse.run.workers.fanout import Processes, preload_of
    from dse.run.workers.joined import Worker, checked, task_of

    if (folder is None) == (storage is None):
        raise click.UsageError("name either the folder of a run, or --storage")
    if storage is not None and study is None:
        raise click.UsageError("--storage needs --study: weft explore says its name")
    found: Counter[str] = Counter()
    with (
        console.progress("worker") as update,
        stop_once() as stopping,
        _opened(folder, storage, storage_wait, study, idle) as (place, name),
    ):

        def heard(result: Result) -> None:
            found[result.status.value] += 1
            update(found.total(), 0, result.status.value)

        board = _board(place, name, jobs, idle)
        manifest = board.manifest
        checked(manifest)
        task = task_of(manifest, *_kernel(kernel, board))
        names = (manifest["evaluator"], *manifest["promote"])
        where = manifest.get("tool"), manifest["device"], manifest["clock_ns"]
        tool = setting(*where, calibration=task.calibration).tool
        modules = preload_of(names, is_open=tool.is_open)
        pool = Processes(jobs, manifest["timeout"], modules)
        with contextlib.closing(pool):
            Worker(board, task, pool, idle, heard, stopping, ResultCache(cache)).serve()
        stopped = stopping()
    rows: list[dict[str, Any]] = [{"status": s, "evaluations": n} for s, n in found.items()]
    show("worker", ("status", "evaluations"), rows, form)
    console.say(f"worker: {found.total()} evaluations")
    return INTERRUPTED if stopped else 0


def _kernel(spec: str | None, board: Board) -> tuple[str, StoredKernel]:
    """What the study is of, as data, and where that is from."""
    from dse.kernels.data import data_of, unpacked
    from dsl.errors.errors import InputError

    if spec is not None:
        return spec, data_of(target(spec, UNSCHEDULED, board.manifest["size"]).kernel)
    if board.kernel is None:
        raise InputError(
            "W547",
            "the study does not hold the kernel as data, and its Python is not run unasked",
            help="name the kernel, and its file is run: --kernel FILE.py:NAME",
        )
    return "the study's kernel", unpacked(board.kernel, "the study")


@contextlib.contextmanager
def _opened(
    folder: Path | None, storage: str | None, wait: float, study: str | None, idle: float
) -> Iterator[tuple[BaseStorage, str]]:
    """Where the study is, and its name: that of the run in a folder unless another is said."""
    from dse.run.folder.directory import open_run
    from dse.run.studies.storage import database, journal
    from dse.run.studies.study import STUDY

    if storage is not None:
        with database(storage, wait, console.say) as place:
            yield place, study or STUDY
        return
    assert folder is not None
    run = _awaited(lambda: open_run(folder, write=False), idle)
    yield journal(run.journal), study or run.manifest.get("study", STUDY)


def _board(storage: BaseStorage, study: str, jobs: int, idle: float) -> Board:
    from dse.run.workers.offers import Board

    return _awaited(lambda: Board(storage, study, jobs), idle)


def _awaited(make: Callable[[], Made], idle: float) -> Made:
    """What may not be there yet: workers and the exploration start in any order."""
    from dsl.errors.errors import InputError

    start = time.monotonic()
    while True:
        try:
            return make()
        except InputError as error:
            if error.code not in ("W521", "W533") or time.monotonic() - start >= idle:
                raise
        time.sleep(_POLL)
