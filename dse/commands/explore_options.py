"""The options of ``weft explore``, and what they mean."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.evaluators.fidelities import (
    BOTH,
    BUDGETS,
    CSYNTH,
    EVALUATORS,
    OBJECTIVES,
    PROMOTIONS,
    RESOURCES,
)
from dse.kernels.device import calibration_option, device_options, tool_option, uncertainty_option
from dse.strategies.names import STRATEGIES

if TYPE_CHECKING:
    from dse.space.start import Start
    from dsl.programs.program import Program
    from dsl.schedules.schedule import Schedule

_SEEDS = 2**32 - 1  # the largest of NumPy's generators
_LONGEST = 365 * 24 * 3600  # seconds: timers of the system do not take just any number
_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


class Finite(click.FloatRange):
    """A number within a range; neither nan, which is above and below nothing, nor inf."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number that can be used here", param, ctx)
        return number


class Clock(Finite):
    """A clock period in ns, or two of them with two dots between: a range, as a pair."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or the two."""
        if not isinstance(value, str) or ".." not in value:
            return super().convert(value, param, ctx)
        match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*\.\.\s*(\d{1,15}(?:\.\d+)?)\s*", value)
        if match is None:
            from dsl.errors.errors import InputError

            raise InputError("W405", f"'{value}' is not a range of clock periods",
                             help="write the shorter and the longer one in ns, as 3..10")  # fmt: skip
        return float(match[1]), float(match[2])


def _made(_: click.Context, __: click.Parameter, folder: Path | None) -> Path | None:
    """The folder, which is made: better known before anything begins than at the first result."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.BadParameter(f"cannot make {folder}: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise click.BadParameter(f"cannot write into {folder}")
    return folder


def storage_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--storage``, ``--storage-wait``, ``--study`` and ``--cache``, as ``weft worker`` has them."""
    for option in (
        click.option("--cache", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
                     callback=_made,
                     help="Look up results here, and keep them for other runs."),
        click.option("--study", metavar="NAME", help="Name of the study in the storage."),
        click.option("--storage-wait", type=Finite(0, _LONGEST), default=300, show_default=True,
                     metavar="S",
                     help="Seconds to wait for a database that goes away, as for a restart."),
        click.option("--storage", metavar="URL", envvar="WEFT_STORAGE",
                     help="Database of the study: postgresql://USER@HOST/NAME or mysql://...; "
                     "also from WEFT_STORAGE."),
    ):  # fmt: skip
        command = option(command)
    return command


routed_option = click.option("--routed", is_flag=True,
             help="Show what placement and routing are expected to make of designs, too.")  # fmt: skip
budget_option = click.option("--budget", type=click.Choice(BUDGETS), default=CSYNTH, show_default=True,
             help="Whose LUT, FF and BRAM18 keep to the limits; routed: the upper ends of what is "
             "expected after placement and routing.")  # fmt: skip


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is searched, and how."""
    for option in reversed((
        click.option("--size", metavar="NAME|N=V,...",
                     help="One of the kernel's sizes, or values for names that it captures."),
        device_options(
            "The device that designs are made for.", default="xczu9eg", name="device"
        ),
        click.option("--clock", type=Clock(min=0, min_open=True), default=10.0,
                     show_default=True, metavar="NS|NS..NS",
                     help="The target clock period; or a range, as 3..10, for the design that is fastest in "
                     "time at any of a few periods in it."),
        tool_option,
        uncertainty_option,
        calibration_option,
        click.option("--share", type=Finite(0, 1, min_open=True), metavar="X",
                     help="Share of the device's resources that a design may use. Default: all DSP "
                     "slices, 0.8 of the rest: a device that is fuller hardly routes."),
        click.option("--dsp", type=click.IntRange(min=1), metavar="N",
                     help="DSP slices that a design may use."),
        click.option("--limit", metavar="NAME=N|N%,...",
                     help="What a design may use of a resource, or which part of the device's."),
        click.option("--max-latency", metavar="CYCLES|TIME",
                     help="Designs that take longer are of no use: 20000, or 150us."),
        click.option("--objectives", metavar="NAME,...",
                     help=f"What to make small: {', '.join(OBJECTIVES)}.  [default: latency,dsp; "
                     "latency,lut where no operator takes a DSP slice]"),
        click.option("--strategy", type=click.Choice(STRATEGIES), default="auto",
                     show_default=True, help="How points are chosen."),
        click.option("--trials", type=click.IntRange(min=1), default=40, show_default=True,
                     metavar="N",
                     help="Points to evaluate in all, those before --resume included."),
        click.option("--seed", type=click.IntRange(0, _SEEDS), default=0, show_default=True,
                     metavar="N", help="Of the samplers."),
        click.option("--reassociate", is_flag=True,
                     help="Allow sums of floats to be done in any order."),
        click.option("--supported", is_flag=True,
                     help="Search only designs that labels of the tool show: see e, n and phi in the "
                     "table."),
        routed_option,
        budget_option,
        click.option("--evaluator", type=click.Choice((BOTH, *EVALUATORS)), default=BOTH,
                     envvar="WEFT_EVALUATOR", show_default=True,
                     help="Whose figures the search goes by; both: the model's, and what the predictor "
                     "that comes with Weft says of the front decides on limits, where there is one. Also "
                     "from WEFT_EVALUATOR."),
        click.option("--weights", type=click.Path(path_type=Path, dir_okay=False),
                     metavar="FILE",
                     help="The predictor of gnn, from weft train. Default: the one that comes with "
                     "Weft for the tool."),
        click.option("--learn", "rounds", type=click.IntRange(min=0), default=0, metavar="N",
                     help="Search and promote to rtl in N turns, and choose what to promote by a "
                     "predictor that learns from what rtl said."),
        click.option("--promote", type=click.Choice(PROMOTIONS), multiple=True,
                     help="Evaluate the front again by this; may be given several times."),
        click.option("--promote-most", type=click.IntRange(min=1), default=16,
                     show_default=True, metavar="N", help="Designs to promote at most."),
    )):  # fmt: skip
        command = option(command)
    return command


def fanout_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where evaluations take place, and for how long."""
    for option in reversed((
        click.option("--jobs", type=click.IntRange(min=0), default=1, show_default=True,
                     metavar="N",
                     help="Evaluations at once on this machine; 0 leaves them to the workers."),
        click.option("--seconds", type=Finite(min=1, max=_LONGEST), metavar="S",
                     help="Begin no trial after so many seconds, but for one of the program as it stands if "
                     "there is no design: with it results depend on how fast the machine is."),
        click.option("--timeout", type=Finite(min=0.1, max=_LONGEST), default=60, show_default=True,
                     metavar="S", help="Seconds for each evaluation."),
        click.option("--dask", metavar="ADDRESS",
                     help="Evaluate on the Dask cluster of this scheduler."),
        click.option("--open", "shared", is_flag=True,
                     help="Let weft worker processes join; always so with --storage."),
    )):  # fmt: skip
        command = option(command)
    return command


def start_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--from`` and ``--fix``: the schedule that a search begins with."""
    for option in reversed((
        click.option("--from", "schedule", metavar="NAME|FILE.json",
                     help="Begin with this schedule: keep what it says of loops, interfaces, "
                     "storage and tasks, and search the rest."),
        click.option("--fix", metavar="STEP", multiple=True,
                     help="Keep this step of the schedule, too: partition, pipeline, unroll or "
                     "flatten, or partition:A, pipeline:S1.j, ...; may be given several times."),
    )):  # fmt: skip
        command = option(command)
    return command


def deploy_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--deploy``: designs that come to a board as they are searched."""
    return click.option(
        "--deploy", metavar="BOARD",
        help="Search designs whose arrays are in the memory of this board: copies to the chip count, in time "
        "and in block RAM. weft export --deploy brings them there.",
    )(command)  # fmt: skip


def start_in(program: Program, schedule: Schedule, fix: Sequence[str]) -> Start:
    """What all designs have, as ``--from`` and ``--fix`` say.

    Raises:
        click.UsageError: a step to be fixed is not in the schedule.
    """
    from dse.space.start import start_of
    from dsl.errors.errors import InputError

    try:
        return start_of(program, schedule, fix)
    except InputError as error:
        if error.code != "W509":
            raise
        raise click.UsageError(f"--fix: {error.message}: {error.help}") from error


def limits_in(text: str | None) -> dict[str, int | str]:
    """The limits of resources that are written in ``--limit``, as `weft.explore` takes them.

    Raises:
        click.BadParameter: one of them is not of the form that it should be.
    """
    found: dict[str, int | str] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        match = re.fullmatch(r"\s*(\w+)\s*=\s*(\d{1,15}(?:\.\d+)?)(%?)\s*", part)
        if match is None or match[1] not in RESOURCES:
            raise click.BadParameter(
                f"--limit: '{part}' is not NAME=N or NAME=N%, NAME one of {', '.join(RESOURCES)}"
            )
        found[match[1]] = f"{match[2]}%" if match[3] else int(float(match[2]))
    return found


def cycles_of(text: str | None, clock: float) -> float | None:
    """A latency in cycles, written so or as a time at a clock period in ns.

    Raises:
        click.BadParameter: it is neither.
    """
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*(ns|us|ms|s)?\s*", text)
    if match is None or float(match[1]) == 0:
        raise click.BadParameter(f"--max-latency: '{text}' is neither cycles nor a time like 150us")
    number = float(match[1])
    return number if match[2] is None else number * _UNITS[match[2]] / clock
