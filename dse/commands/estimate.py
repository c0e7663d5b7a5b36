"""``weft estimate``: what an HLS tool would make of a kernel, by the model or a predictor too."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dse.kernels.device import (
    board_named,
    calibration_option,
    device_options,
    tool_option,
    uncertainty_option,
)
from dse.kernels.target import DEFAULT_SIZE, UNSCHEDULED, Target, target, target_options
from dse.views.console import colours, show_notes
from dse.views.output import format_option, rendered

if TYPE_CHECKING:
    from dse.estimates.estimation import Estimation
    from dse.estimates.outcomes import Outcome
    from dse.estimates.prediction import Predicted
    from dse.estimates.suggest import Suggestion
    from dse.views.estimate import Style
    from qor_gnn.tools.operators.calibration import Calibration


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@target_options
@device_options("Which device it is for. Default: the tool's own.")
@click.option("--clock", type=click.FloatRange(min=0, min_open=True), metavar="NS",
              help="The target clock period. Default: the tool's.")  # fmt: skip
@tool_option
@uncertainty_option
@calibration_option
@click.option("--explain", is_flag=True,
              help="Name what limits each interval, the critical paths, and steps that would "
              "help.")  # fmt: skip
@click.option("--with", "by", type=click.Choice(("model", "gnn")), default="model",
              show_default=True,
              help="Whose figures: the white-box model's, or beside them a trained predictor's, "
              "with standard deviations.")  # fmt: skip
@click.option("--weights", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="The predictor, from weft train. Default: the one that comes with Weft for the "
              "tool.")  # fmt: skip
@click.option("--routed", is_flag=True,
              help="Also what placement and routing are expected to make of it: LUT, FF, DSP, BRAM18 and "
              "the clock, with 90% intervals.")  # fmt: skip
@format_option
def command(
    kernel: str,
    schedule: str | None,
    size: str | None,
    device_name: str | None,
    clock: float | None,
    tool: str | None,
    uncertainty: float | None,
    calibration: Calibration | None,
    explain: bool,
    by: str,
    weights: Path | None,
    routed: bool,
    form: str,
) -> int:
    """Estimate latency, intervals and resources of a kernel under a schedule, and say why.

    \b
    weft estimate gemm.py:gemm --schedule tiled
    weft estimate gemm.py:gemm --schedule pipelined --explain
    weft estimate gemm.py:gemm --device xcu280 --clock 3.33 --format json
    weft estimate gemm.py:gemm --board pynq-z2 --clock 8 --tool vitis-2023.2
    weft estimate gemm.py:gemm --with gnn
    weft estimate gemm.py:gemm --routed

    No tool is run: the model schedules the design as the tool would.
    """
    from dse.estimates.estimation import estimated, setting
    from dse.estimates.outcomes import outcomes

    if weights is not None and by != "gnn":
        raise click.UsageError("--weights is for --with gnn")

    where = setting(tool, device_name, clock, uncertainty, calibration)
    what = target(kernel, schedule, size)
    show_notes(what.program)
    found = estimated(what.program, what.schedule, where, explain=explain)
    suggested = None
    if explain:
        from dse.estimates.suggest import suggestions

        suggested = suggestions(found)
    told = outcomes(found, thorough=explain)
    more = None
    if by == "gnn":
        from dse.estimates.prediction import predicted

        more = predicted(found, weights)
    beside = (
        *_beside(found, more, routed),
        *_behind_axi(found, what),
        *_on_board(found, what, board_named()),
    )
    click.echo(_text(what, found, suggested, told, beside, form), nl=False, color=True)
    return 0


@dataclass(frozen=True, slots=True)
class _Beside:
    """Figures beside the model's, in the forms that they are shown in."""

    name: str
    text: Callable[[Style], str]
    data: Callable[[], dict[str, Any]]
    rows: Callable[[dict[str, Any]], list[dict[str, Any]]]


def _beside(found: Estimation, more: Predicted | None, routed: bool) -> Iterator[_Beside]:
    if more is not None:
        from dse.views import predict

        yield _Beside(
            "predicted",
            lambda style: predict.view(more, style),
            lambda: predict.as_data(more),
            lambda design: predict.as_rows(more, design),
        )
    if routed:
        from dse.estimates.routed import routed_of
        from dse.views import routed as view

        device = found.setting.device
        after = routed_of(found.answer, device)
        yield _Beside(
            "routed",
            lambda style: view.view(found.answer, after, device, style),
            lambda: view.as_data(after),
            lambda design: view.as_rows(after, design),
        )


def _behind_axi(found: Estimation, what: Target) -> Iterator[_Beside]:
    """Of the open backend with arrays outside, cycles with memory."""
    if not found.setting.tool.is_open:
        return
    from dse.accelerator.behind_axi import behind_axi
    from dse.views import behind_axi as view

    cycles = behind_axi(found, what.program, view.LATENCY)
    if cycles is not None:
        yield _Beside(
            "memory",
            lambda _: view.view(cycles),
            lambda: view.as_data(cycles),
            lambda design: view.as_rows(cycles, design),
        )


def _on_board(found: Estimation, what: Target, name: str | None) -> Iterator[_Beside]:
    """Emulation and the board, where one was named."""
    if name is None:
        return
    from dse.accelerator.figures import accelerator_of
    from dse.views import accelerator as view

    on = accelerator_of(found, what.program, name)
    yield _Beside(
        "accelerator",
        lambda style: view.view(on, name, style),
        lambda: view.as_data(on, name),
        lambda design: view.as_rows(on, design),
    )


def _text(
    what: Target,
    found: Estimation,
    suggested: tuple[Suggestion, ...] | None,
    told: tuple[Outcome, ...],
    beside: Sequence[_Beside],
    form: str,
) -> str:
    match form:
        case "json":
            from dse.views.estimate_data import as_data, as_text

            names = {"schedule": what.schedule_name, "size": what.size}
            data = as_data(found, names, suggested, told)
            data |= {more.name: more.data() for more in beside}
            return as_text(data)
        case "csv":
            from dse.views.estimate_data import CSV_COLUMNS, as_rows

            rows = as_rows(found)
            design = rows[-1]
            rows += [row for more in beside for row in more.rows(design)]
            return rendered("estimate", CSV_COLUMNS, rows, "csv")
        case _:
            from dse.views.estimate import Style, view

            style = Style(colours(sys.stdout))
            text = view(_title(what), found, style, suggested, told)
            return "\n".join([text, *(more.text(style) for more in beside)])


def _title(what: Target) -> str:
    parts = [what.kernel.name]
    if what.schedule_name != UNSCHEDULED:
        parts.append(f"schedule {what.schedule_name}")
    else:
        parts.append("no schedule")
    if what.size != DEFAULT_SIZE:
        parts.append(f"size {what.size}")
    return ", ".join(parts)
