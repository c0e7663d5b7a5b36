"""``weft explore``: search the schedules of a kernel and keep the Pareto front."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.commands.explore_options import (
    cycles_of,
    deploy_option,
    fanout_options,
    limits_in,
    search_options,
    start_options,
    storage_options,
)
from dse.commands.stopping import stop_once
from dse.kernels.device import board_named, device_for
from dse.kernels.target import Target, target
from dse.views import console
from dse.views.output import format_option, show

if TYPE_CHECKING:
    from dse.estimates.estimation import Setting
    from dse.run.folder.plan import Plan
    from dse.run.folder.problem import Problem
    from dse.run.search.explore import Heard
    from dse.run.search.options import ExploreOptions
    from dsl.kernels.kernel import Kernel
    from dsl.schedules.schedule import Schedule

NOTHING_FEASIBLE, INTERRUPTED = 3, 130


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@click.option("--out", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="The run's folder.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the run in the folder.")
@start_options
@deploy_option
@search_options
@fanout_options
@storage_options
@format_option
def command(kernel: str, folder: Path, resume: bool, form: str, **given: Any) -> int:
    """Search the schedules of a kernel for the best designs within a device's resources.

    \b
    weft explore gemm.py:gemm --device xc7z020 --out run
    weft explore gemm.py:gemm --from tiled --fix partition:A --out tiles
    weft explore gemm.py:gemm --deploy pynq-z2 --out run
    weft explore gemm.py:gemm --clock 3..10 --out clocks
    weft explore gemm.py:gemm --dsp 100 --limit lut=20% --max-latency 5ms --out small
    weft explore gemm.py:gemm --device xc7z020 --out run --trials 200 --resume
    weft export run --best --out gemm_hls

    The result is the Pareto front of the objectives, each design with how far it is from the lower
    bound that no schedule can beat. report.html in the run's folder has all there is to say of it.
    Everything is kept there as it is found: after an interruption, of whatever kind, --resume goes
    on. Ctrl-C once stops when the evaluations under way have ended, twice at once. Exits with 3 when
    no design keeps to the limits.
    """
    from dse.report.page import NAME, write_report
    from dse.run.folder.problem import ONE_POINT
    from dse.run.search.exploration import Database, carry_out
    from dse.views import explore as view
    from dse.views import listening as shown

    start = time.monotonic()
    asked = target(kernel, given["schedule"], given["size"])
    console.show_notes(asked.program)
    if isinstance(given["clock"], tuple):
        return _over_clocks(kernel, folder, asked, given, resume=resume, form=form)
    options = _options(given, asked.schedule)
    means = options.means
    plan = _plan(kernel, asked.kernel, options)
    if not (means.jobs or means.dask or means.shared):
        raise click.UsageError(
            "--jobs 0 leaves nobody to evaluate: add --open, --storage or --dask"
        )
    database = None
    if options.storage is not None:
        database = Database(options.storage, given["storage_wait"], console.say)

    @contextlib.contextmanager
    def listening(problem: Problem) -> Iterator[Heard]:
        if means.shared:
            where = f"--storage URL --study {plan.study}" if database is not None else folder
            console.say(f"workers may join: weft worker {where}")
        with (
            stop_once() as stopping,
            shown.progress(plan, problem, means.trials, stopping) as heard,
        ):
            yield heard

    carried = carry_out(folder, plan, means, listening, database, resume=resume)
    run, problem, found = carried.run, carried.problem, carried.ended
    front = view.rows(run, problem)
    _show(front, plan, form)
    for line in view.summary(run, problem, found.trials, time.monotonic() - start):
        console.say(line)
    if problem.points == 1:
        console.say(f"note: {ONE_POINT}")
    elif found.spent:
        console.say("note: the space has no more points that are worth a trial")
    for note in (
        *found.notes,
        *plan.where.notes,
        *options.remarks,
        *_in_order(plan, problem, front),
    ):
        console.say(f"note: {note}")
    write_report(run)
    if options.deploy is not None and not front:
        console.say("note: where the copies on the chip are too large, begin with a schedule whose tiles are "
                    "smaller: --from (docs/guide/deploy.md)")  # fmt: skip
    for line in view.onward(folder, NAME, bool(front), plan.where.device):
        console.say(line)
    if found.stopped:
        return INTERRUPTED
    return 0 if front else NOTHING_FEASIBLE


def _in_order(plan: Plan, problem: Problem, front: list[dict[str, Any]]) -> Iterator[str]:
    """That sums in any order would be much faster, where they are not asked for."""
    from dse.bounds.sums_in_order import reordered

    bound = problem.bound
    if plan.reassociate or not front or bound is None or bound.kind != "recurrence":
        return
    budget, outside = (plan.budget, plan.luts), plan.start.words(plan.program)
    found = reordered(
        plan.program, plan.where.tool, front[0]["latency"], bound.cycles, budget, outside
    )
    if found is not None:
        yield found


def _show(front: list[dict[str, Any]], plan: Plan, form: str) -> None:
    """The designs found, as they are asked for."""
    from dse.views import explore as view

    if form == "table":
        front = [view.for_people(row) for row in front]
    elif form == "csv":
        front = [view.flat(row) for row in front]
    if front or form != "table":
        names = view.columns(
            plan.objectives, plan.promote, form, beside=plan.beside, routed=plan.routed,
            board=any(row["board"] for row in front),
        )  # fmt: skip
        show("explore", names, front, form)


def _over_clocks(
    source: str, folder: Path, asked: Target, given: dict[str, Any], *, resume: bool, form: str
) -> int:
    """The search over a range of clocks; the exit code."""
    from dse.commands.explore_clocks import over_clocks

    found = over_clocks(
        asked, folder, given,
        lambda clock: _options({**given, "clock": clock}, asked.schedule),
        lambda options: _plan(source, asked.kernel, options),
        resume=resume, form=form,
    )  # fmt: skip
    if found is None:
        return INTERRUPTED
    return 0 if found else NOTHING_FEASIBLE


def _options(given: dict[str, Any], schedule: Schedule) -> ExploreOptions:
    """What the command line says, as values."""
    from dse.run.search.options import ExploreOptions

    if given["rounds"] and "rtl" not in given["promote"]:
        raise click.UsageError("--learn needs somebody to learn from: add --promote rtl")
    if given["fix"] and given["schedule"] is None and given["deploy"] is None:
        raise click.UsageError("--fix says what to keep of a schedule: add --from")
    given["board"] = board_named()
    given["device"] = device_for(given["deploy"], "device") or given["device"]
    predicting = "gnn" in (given["evaluator"], *given["promote"])
    if given["weights"] is not None and not (predicting or given["rounds"]):
        raise click.UsageError("--weights is for --evaluator gnn, --promote gnn and --learn")
    names = {f.name for f in fields(ExploreOptions)}
    said = {name: value for name, value in given.items() if name in names}
    said["schedule"] = schedule
    said["limits"] = limits_in(given["limit"])
    said["max_latency"] = cycles_of(given["max_latency"], given["clock"])
    if given["objectives"] is not None:
        said["objectives"] = tuple(part.strip() for part in given["objectives"].split(","))
    return ExploreOptions(**said)


def _plan(source: str, kernel: Kernel, options: ExploreOptions) -> Plan:
    """What is to be explored."""
    from dse.kernels.data import data_of
    from dsl.errors.errors import InputError

    where = options.where
    if "rtl" in options.promote:
        _needs_open_flow(where)
    try:
        return options.plan(source, data_of(kernel))
    except InputError as error:
        if error.code != "W509":
            raise
        raise click.UsageError(f"{error.message}: {error.help}") from error


def _needs_open_flow(where: Setting) -> None:
    """Designs for the device can be placed and routed: W403 if not."""
    from backends.rtl.tools.nextpnr import DEVICES
    from dsl.errors.errors import ToolError

    if where.device.name not in DEVICES:
        raise ToolError(
            "W403",
            f"--promote rtl cannot place and route designs for '{where.device.name}'",
            help="take a device of the open flow: --device ecp5-85k",
        )
