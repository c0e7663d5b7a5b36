"""``weft estimate``: what an HLS tool would make of a kernel, from the white-box model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from dse.console import colours
from dse.kernels import DEFAULT_SIZE, UNSCHEDULED, Target, target, target_options
from dse.output import format_option, rendered

if TYPE_CHECKING:
    from dse.estimation import Estimation
    from dse.suggest import Suggestion


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@target_options
@click.option("--device", "device_name", metavar="NAME|PART",
              help="Whose resources are the budget. Default: the tool's own.")  # fmt: skip
@click.option("--clock", type=click.FloatRange(min=0, min_open=True), metavar="NS",
              help="The target clock period. Default: the tool's.")  # fmt: skip
@click.option("--tool", metavar="NAME",
              help="The tool personality: version, device family and clock. Default: the one that "
              "fits --device and --clock.")  # fmt: skip
@click.option("--explain", is_flag=True,
              help="Name what limits each interval, the critical paths, and steps that would "
              "help.")  # fmt: skip
@format_option
def command(
    kernel: str,
    schedule: str | None,
    size: str | None,
    device_name: str | None,
    clock: float | None,
    tool: str | None,
    explain: bool,
    form: str,
) -> int:
    """Estimate latency, intervals and resources of a kernel under a schedule, and say why.

    \b
    weft estimate gemm.py:gemm --schedule tiled
    weft estimate gemm.py:gemm --schedule pipelined --explain
    weft estimate gemm.py:gemm --device xcu280 --clock 3.33 --format json

    No tool is run: the model schedules the design as the tool would.
    """
    from dse.estimation import estimated, setting

    where = setting(tool, device_name, clock)
    what = target(kernel, schedule, size)
    found = estimated(what.program, what.schedule, where, explain=explain)
    suggested = None
    if explain:
        from dse.suggest import suggestions

        suggested = suggestions(found)
    click.echo(_text(what, found, suggested, form), nl=False, color=True)
    return 0


def _text(
    what: Target, found: Estimation, suggested: tuple[Suggestion, ...] | None, form: str
) -> str:
    match form:
        case "json":
            from dse.estimate_json import as_data, as_text

            names = {"schedule": what.schedule_name, "size": what.size}
            return as_text(as_data(found, names, suggested))
        case "csv":
            from dse.estimate_json import CSV_COLUMNS, as_rows

            return rendered("estimate", CSV_COLUMNS, as_rows(found), "csv")
        case _:
            from dse.estimate_view import Style, view

            return view(_title(what), found, Style(colours(sys.stdout)), suggested)


def _title(what: Target) -> str:
    parts = [what.kernel.name]
    if what.schedule_name != UNSCHEDULED:
        parts.append(f"schedule {what.schedule_name}")
    else:
        parts.append("no schedule")
    if what.size != DEFAULT_SIZE:
        parts.append(f"size {what.size}")
    return ", ".join(parts)
