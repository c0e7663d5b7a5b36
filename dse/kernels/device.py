"""The device that a command line names, by itself or by a board that it is on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from qor_gnn.tools.operators.calibration import Calibration

_BOARD = "weft.board"  # where the context keeps the part that --board said
_NAME = "weft.board.name"


def device_options(
    says: str, *, default: str | None = None, name: str = "device_name"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--device`` and ``--board``, one or the other; the command gets a device's name or a part.

    Args:
        says: the help line of ``--device``.
        default: the device where neither is given.
        name: of the command's parameter.
    """
    device = click.option(
        "--device", name, default=default, show_default=default is not None, metavar="NAME|PART",
        callback=_device, help=says,
    )  # fmt: skip
    board = click.option(
        "--board", metavar="NAME", expose_value=False, is_eager=True, callback=_board,
        help="The device on this board: pynq-z2, zcu104, kv260, u250, ... (weft devices).",
    )  # fmt: skip
    return lambda command: device(board(command))


def board_named() -> str | None:
    """The name of the board that ``--board`` said; None where it was not given."""
    found: str | None = click.get_current_context().meta.get(_NAME)
    return found


def device_for(deploy: str | None, *names: str) -> str | None:
    """The device on the board to deploy to; None where there is no such board, or a device was named.

    Args:
        deploy: the board.
        names: parameters of the command that name a device.

    Raises:
        ToolError: W406, designs cannot be deployed to the board.
    """
    context = click.get_current_context()
    told = [context.get_parameter_source(name) for name in names]
    if deploy is None or click.core.ParameterSource.COMMANDLINE in told or _BOARD in context.meta:
        return None
    from backends.deploy.boards import board

    return board(deploy).device.name


def tool_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--tool``, the version of the tool."""
    return click.option(
        "--tool", metavar="NAME",
        help="The version of the tool: vitis-2021.1, vitis-2022.1, vitis-2022.2, vitis-2023.2, vitis-2025.1, "
        "open; of another one of Vitis the nearest of these. Default: the one that was measured on the device "
        "or its family.",
    )(command)  # fmt: skip


def uncertainty_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--uncertainty``, a share of the period: the command gets it between 0 and 1, or None."""
    return click.option(
        "--uncertainty", type=click.FloatRange(0, 90), metavar="PERCENT", callback=_share,
        help="The part of the period that the tool keeps free. Default: the tool's own, 27 for "
        "Vitis HLS.",
    )(command)  # fmt: skip


def calibration_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--calibration``: the command gets what the file holds, or None."""
    return click.option(
        "--calibration", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        callback=_calibration,
        help="Measurements of your own, from weft calibrate: they win over the tool's operators.",
    )(command)  # fmt: skip


def _calibration(_: click.Context, __: click.Parameter, path: Path | None) -> Calibration | None:
    if path is None:
        return None
    from qor_gnn.tools.operators.calibration_file import read

    return read(path)


def _share(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    return None if value is None else value / 100


def _board(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    """Looks the board up, and leaves its part for ``--device``.

    Raises:
        ToolError: W403, there is none of that name.
    """
    if value is not None and not ctx.resilient_parsing:
        from backends.devices import board

        ctx.meta[_BOARD] = board(value).part
        ctx.meta[_NAME] = value.lower()


def _device(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The part on the board, or else what ``--device`` says."""
    part: str | None = ctx.meta.get(_BOARD)
    if part is None:
        return value
    given = ctx.get_parameter_source(str(param.name))
    if given is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--device and --board: one or the other", ctx)
    return part
