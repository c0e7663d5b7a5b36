"""`weft.explore`: an exploration as a function of a kernel."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.deploy.boards import board
from backends.devices import DEFAULT
from dse.api.run import Run
from dse.api.settings import calibration_from
from dse.evaluators.fidelities import BOTH
from dse.kernels.data import data_of
from dse.report.page import write_report
from dse.run.folder.directory import open_run
from dse.run.search.exploration import carry_out
from dse.run.search.options import ExploreOptions
from dse.run.sweeps.clocks import checked_range
from dse.run.sweeps.sweep import run_in
from dse.run.sweeps.swept import Hearing, swept
from dse.views import listening
from dsl.errors.errors import InputError
from dsl.errors.shown import shown
from dsl.kernels.call_arguments import check_call
from dsl.kernels.kernel import Kernel, schedule_of
from dsl.schedules.schedule import Schedule

if TYPE_CHECKING:
    from dse.run.folder.plan import Plan
    from dse.run.folder.problem import Problem
    from dse.run.search.explore import Heard

_GIVEN = ("device", "clock", "seed", "trials", "jobs", "fix")
_MAY_BE_NONE = (
    "seconds",
    "size",
    "tool",
    "uncertainty",
    "calibration",
    "dsp",
    "max_latency",
    "objectives",
)


def explored(
    kernel: Kernel,
    out: str | Path | None,
    schedule: Schedule | str | None,
    *,
    resume: bool,
    progress: bool,
    **asked: Any,
) -> Run:
    """See `weft.explore`; ``asked`` is of `dse.run.search.options.ExploreOptions`."""
    if asked["evaluator"] is None:
        asked["evaluator"] = os.environ.get("WEFT_EVALUATOR", BOTH)
    if asked["device"] is None:
        onto = asked["deploy"]
        asked["device"] = DEFAULT if onto is None else board(onto).device.name
    said = {name: asked[name] for name in (*_GIVEN, *_MAY_BE_NONE)}
    clock = asked["clock"]
    clocks = _range(clock) if isinstance(clock, tuple | list) else None
    if clocks is not None:
        said["clock"] = asked["clock"] = clocks[0]
    check_call(
        "explore", kernel=kernel, folder=out, optional=(*_MAY_BE_NONE, "folder"), **said
    )  # fmt: skip
    asked["calibration"] = calibration_from(asked["calibration"])
    options = ExploreOptions(schedule=schedule_of(kernel, schedule), **asked)
    at_size = kernel.at(options.size)
    data = data_of(at_size)
    means = options.means
    plan = options.plan(kernel.name, data)

    def heard(one: Plan, problem: Problem, trials: int) -> contextlib.AbstractContextManager[Heard]:
        # Ctrl-C is Python's own.
        return listening.progress(one, problem, trials, shown=progress)

    folder = Path(tempfile.mkdtemp(prefix="weft-run-") if out is None else out)
    with contextlib.ExitStack() as undone:
        if out is None:
            undone.callback(shutil.rmtree, folder, ignore_errors=True)
        if clocks is None:
            alone = partial(heard, plan, trials=options.trials)
            write_report(carry_out(folder, plan, means, alone, resume=resume).run)
        else:
            hearing = Hearing(heard, lambda *_: None, write_report)
            swept(
                folder, clocks, lambda ns: replace(options, clock=ns),
                lambda one: one.plan(kernel.name, data), at_size.program, hearing, resume=resume,
            )  # fmt: skip
        run = Run(open_run(run_in(folder), write=False), plan.kernel)
        undone.pop_all()
    if out is None:
        weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


def _range(clock: Sequence[Any]) -> tuple[float, float]:
    """The two ends of a range of clocks.

    Raises:
        InputError: W509 these are no two numbers; W405 there is no period between them.
    """
    if len(clock) != 2:
        message = f"clock of weft.explore is {shown(clock)}, of {len(clock)} numbers"
        raise InputError("W509", message, help="it is a number of nanoseconds, or two: (3, 10)")
    for end in clock:
        check_call("explore", clock=end)
    return checked_range(*map(float, clock))
