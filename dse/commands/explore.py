"""``weft explore``: search the schedules of a kernel and keep the Pareto front."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.commands.explore_options import (
    fanout_options,
    limits_of,
    objectives_of,
    search_options,
    storage_options,
)
from dse.commands.stopping import stop_once
from dse.kernels.target import UNSCHEDULED, quiet_stdout, target
from dse.views import console
from dse.views.output import format_option, show

if TYPE_CHECKING:
    from dse.estimates.estimation import Setting
    from dse.evaluators.base import Result
    from dse.run.explore import Heard
    from dse.run.front import Design
    from dse.run.plan import Plan
    from dse.run.problem import Problem
    from dse.run.study import Finished

NOTHING_FEASIBLE, INTERRUPTED = 3, 130


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@click.option("--out", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="The run's folder.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the run in the folder.")
@search_options
@fanout_options
@storage_options
@format_option
def command(kernel: str, folder: Path, resume: bool, form: str, **given: Any) -> int:
    """Search the schedules of a kernel for the best designs within a device's resources.

    \b
    weft explore gemm.py:gemm --device xc7z020 --out run
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
    from dse.run.exploration import Database, carry_out
    from dse.run.explore import Means
    from dse.views import explore as view

    start = time.monotonic()
    plan = _plan(kernel, given)
    means = Means(
        given["trials"], given["jobs"], given["dask"],
        given["is_open"] or plan.storage is not None, given["cache"],
    )  # fmt: skip
    if not (means.jobs or means.dask or means.shared):
        raise click.UsageError(
            "--jobs 0 leaves nobody to evaluate: add --open, --storage or --dask"
        )
    database = None
    if plan.storage is not None:
        database = Database(given["storage"], given["storage_wait"], console.say)

    @contextlib.contextmanager
    def listening(problem: Problem) -> Iterator[Heard]:
        if means.shared:
            where = f"--storage URL --study {plan.study}" if database is not None else folder
            console.say(f"workers may join: weft worker {where}")
        with _heard(plan, problem, means.trials) as heard:
            yield heard

    carried = carry_out(folder, plan, means, listening, database, resume=resume)
    run, problem, found = carried.run, carried.problem, carried.ended
    front = view.rows(run, problem)
    if form == "table":
        front = [view.for_people(row) for row in front]
    if front or form != "table":
        show("explore", view.columns(plan.objectives, plan.promote, form), front, form)
    for line in view.summary(run, problem, found.trials, time.monotonic() - start):
        console.say(line)
    if found.spent:
        console.say("note: the space has no more points that are worth a trial")
    for note in plan.where.notes:
        console.say(f"note: {note}")
    write_report(run)
    for line in view.onward(folder, NAME, found=bool(front)):
        console.say(line)
    if found.stopped:
        return INTERRUPTED
    return 0 if front else NOTHING_FEASIBLE


def _plan(kernel: str, given: dict[str, Any]) -> Plan:
    """What the command line asks for."""
    from dse.estimates.estimation import setting
    from dse.evaluators.registry import evaluator
    from dse.kernels.data import data_of
    from dse.run.plan import Plan, study_name
    from dse.run.storage import shown
    from dse.run.study import STUDY

    clock = given["clock"]
    where = setting(None, given["device_name"], clock)
    if "rtl" in given["promote"]:
        _needs_open_flow(where)
    chosen = evaluator(given["evaluator"], b"", 0.0, _weights(where, given))
    with quiet_stdout():  # its own function makes inputs
        data = data_of(target(kernel, UNSCHEDULED, given["size"]).kernel)
    plan = Plan(
        kernel, given["size"], data, where, clock,
        limits_of(where.device, clock, given), objectives_of(given["objectives"]),
        given["strategy"], given["seed"], given["reassociate"], chosen,
        tuple(dict.fromkeys(given["promote"])), given["promote_most"], given["timeout"],
        given["study"] or STUDY, None if given["storage"] is None else shown(given["storage"]),
        given["weights"], given["rounds"],
    )  # fmt: skip
    if plan.storage is not None and given["study"] is None:
        return replace(plan, study=study_name(plan))
    return plan


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


def _weights(where: Setting, given: dict[str, Any]) -> Path | None:
    """The predictor's file, looked at before anything begins; None where none is asked for."""
    if given["rounds"] and "rtl" not in given["promote"]:
        raise click.UsageError("--learn needs somebody to learn from: add --promote rtl")
    weights: Path | None = given["weights"]
    predicting = "gnn" in (given["evaluator"], *given["promote"])
    if not predicting and not given["rounds"]:
        if weights is not None:
            raise click.UsageError("--weights is for --evaluator gnn, --promote gnn and --learn")
        return None
    from dse.estimates.prediction import model_for, needs_libraries

    needs_libraries()
    if predicting or weights is not None:
        model_for(where.tool.name, weights)
    return weights


@contextlib.contextmanager
def _heard(plan: Plan, problem: Problem, trials: int) -> Iterator[Heard]:
    """Progress on standard error, and Ctrl-C."""
    from dse.run.explore import Heard
    from dse.views.explore import best_word

    best: float | None = None
    promoted = 0
    with console.progress(f"explore {plan.program.name}") as update, stop_once() as stopping:

        def of_trial(finished: Finished, result: Result, count: int) -> None:
            nonlocal best
            if result.status.value == "ok" and result.latency is not None:
                best = result.latency if best is None else min(best, result.latency)
            word = result.status.value if best is None else best_word(best, problem)
            update(min(count, trials), trials, word)

        def of_promotion(design: Design, result: Result) -> None:
            nonlocal promoted
            promoted += 1
            if result.refuted:
                console.say(f"design {design.key} is wrong: {result.detail}")
            update(promoted, 0, f"promoted, {result.status.value}")

        yield Heard(of_trial, of_promotion, stopping)
