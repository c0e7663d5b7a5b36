"""``weft space``: how many designs of a kernel there are, and of what they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dse.commands.explore_options import start_in, start_options
from dse.kernels.device import calibration_option, device_options, tool_option, uncertainty_option
from dse.kernels.target import target
from dse.views import console
from dse.views.output import format_option, show

COLUMNS = ("variant", "nest", "order", "skewed", "carried", "factors", "points")

if TYPE_CHECKING:
    from qor_gnn.tools.operators.calibration import Calibration


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@click.option("--size", metavar="NAME|N=V,...",
              help="One of the kernel's sizes, or values for names that it captures.")  # fmt: skip
@device_options("Whose operators are counted.", default="xczu9eg")
@click.option("--clock", type=click.FloatRange(min=0, min_open=True), default=10.0,
              show_default=True, metavar="NS", help="The target clock period.")  # fmt: skip
@tool_option
@uncertainty_option
@calibration_option
@click.option("--dsp", type=click.IntRange(min=1), metavar="N",
              help="DSP slices that a design may use. Default: all of the device.")  # fmt: skip
@click.option("--reassociate", is_flag=True,
              help="Allow sums of floats to be done in any order.")  # fmt: skip
@start_options
@format_option
def command(
    kernel: str,
    size: str | None,
    device_name: str,
    clock: float,
    tool: str | None,
    uncertainty: float | None,
    calibration: Calibration | None,
    dsp: int | None,
    reassociate: bool,
    schedule: str | None,
    fix: tuple[str, ...],
    form: str,
) -> None:
    """Show the design space of a kernel: structures, legal loop orders, factors.

    \b
    weft space gemm.py:gemm
    weft space gemm.py:gemm --device xcu280 --clock 3.33 --dsp 2560
    weft space gemm.py:gemm --from tiled --fix partition:A

    A line is one legal order of one nest; loops that carry a dependence are named, and for each
    loop the number of unroll factors worth trying is given. Partitions are not searched: they
    follow from the accesses. Lower bounds on any design's latency go to standard error.
    """
    from backends.devices import device
    from dse.bounds.bounds import bounds, work_of
    from dse.estimates.estimation import setting
    from dse.space.space import space_of
    from dse.views.space import rows

    chip = device(device_name)
    where = setting(tool, chip, clock, uncertainty, calibration)
    asked = target(kernel, schedule, size)
    program = asked.program
    found = space_of(program, where.tool, reassociate, start=start_in(program, asked.schedule, fix))
    show("space", COLUMNS, rows(found), form)
    points = "1 point" if found.size == 1 else f"{found.size:,} points"
    console.say(f"{program.name}: {points}, operators of {where.tool.name}")
    limits = bounds(
        work_of(program, where.tool, reassociate), where.tool, dsp or chip.dsp, chip.lut,
        found.start.words(program),
    )  # fmt: skip
    for bound in limits.all:
        console.say(f"  {bound.kind}: at least {bound.cycles:,} cycles ({bound.reason})")
    for note in where.notes:
        console.say(f"note: {note}")
