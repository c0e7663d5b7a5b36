"""`weft.explore`: an exploration as a function of a kernel."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.deploy.boards import board
from backends.devices import DEFAULT
from dse.api.run import Run
from dse.evaluators.fidelities import BOTH
from dse.kernels.data import data_of
from dse.report.page import write_report
from dse.run.directory import open_run
from dse.run.exploration import carry_out
from dse.run.options import ExploreOptions
from dse.views import listening
from dsl.kernels.call_arguments import check_call
from dsl.kernels.kernel import Kernel, schedule_of
from dsl.schedules.schedule import Schedule

if TYPE_CHECKING:
    from dse.run.explore import Heard
    from dse.run.problem import Problem


def explored(
    kernel: Kernel,
    out: str | Path | None,
    schedule: Schedule | str | None,
    *,
    resume: bool,
    progress: bool,
    **asked: Any,
) -> Run:
    """See `weft.explore`; ``asked`` is of `dse.run.options.ExploreOptions`."""
    if asked["evaluator"] is None:
        asked["evaluator"] = os.environ.get("WEFT_EVALUATOR", BOTH)
    if asked["device"] is None:
        onto = asked["deploy"]
        asked["device"] = DEFAULT if onto is None else board(onto).device.name
    names = ("size", "device", "clock", "tool", "seed", "trials", "jobs")
    said = {name: asked[name] for name in names}
    check_call("explore", kernel=kernel, folder=out, optional=("size", "tool", "folder"), **said)
    options = ExploreOptions(schedule=schedule_of(kernel, schedule), **asked)
    plan = options.plan(kernel.name, data_of(kernel.at(options.size)))

    def heard(problem: Problem) -> contextlib.AbstractContextManager[Heard]:
        # Ctrl-C is Python's own.
        return listening.progress(plan, problem, options.trials, shown=progress)

    folder = Path(tempfile.mkdtemp(prefix="weft-run-") if out is None else out)
    with contextlib.ExitStack() as undone:
        if out is None:
            undone.callback(shutil.rmtree, folder, ignore_errors=True)
        carried = carry_out(folder, plan, options.means, heard, resume=resume)
        write_report(carried.run)
        run = Run(open_run(folder, write=False), plan.kernel)
        undone.pop_all()
    if out is None:
        weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run
