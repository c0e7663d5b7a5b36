"""`weft.on_board`: a design as a whole accelerator."""

from __future__ import annotations

from pathlib import Path

from backends.deploy.boards import board as board_named
from dse.accelerator.figures import Accelerator, accelerator_of
from dse.api.settings import setting_of
from dse.estimates.estimation import estimated
from dsl.errors.errors import ToolError
from dsl.kernels.call_arguments import check_call
from dsl.kernels.kernel import Kernel, schedule_of
from dsl.schedules.schedule import Schedule


def on_board(
    kernel: Kernel,
    schedule: Schedule | str | None = None,
    size: str | None = None,
    *,
    board: str,
    clock: float | None = None,
    tool: str | None = None,
    uncertainty: float | None = None,
    calibration: str | Path | None = None,
) -> Accelerator:
    """Estimate a design with arrays in memory outside as a whole accelerator: csynth's cycles, those of RTL emulation, and
    the time on a board in ms, with ranges, what each channel of the memory passes (bytes), and what limits the design.

    Args:
        kernel: A kernel.
        schedule, size: As for `compile`.
        board: A board that designs can be deployed to: u55c, pynq-z2, ...
        clock: The target period in ns; None for the tool's.
        tool: A tool personality; None for the one that fits device and clock.
        uncertainty, calibration: As for `weft.estimate`.

    Raises:
        WeftError: as `estimate`, W406 for the board, and W408 where there are no figures: no array is outside, or the tool
            is the open backend.
    """
    check_call(
        "on_board", kernel=kernel, size=size, board=board, clock=clock, tool=tool,
        uncertainty=uncertainty, calibration=calibration,
        optional=("size", "clock", "tool", "uncertainty", "calibration"),
    )  # fmt: skip
    place = board_named(board)
    sized = kernel.at(size)
    where = setting_of(tool, place.device, clock, uncertainty, calibration)
    found = estimated(sized.program, schedule_of(sized, schedule), where)
    on = accelerator_of(found, sized.program, place.name)
    if isinstance(on, str):
        raise ToolError("W408", f"{sized.program.name} has no figures of {place.name}", help=on)
    return on
