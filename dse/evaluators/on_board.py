"""An evaluated design on a board, where its arrays are in memory outside."""

from __future__ import annotations

from dataclasses import replace

from dse.accelerator.figures import accelerator_of
from dse.estimates.estimation import ranked, setting
from dse.evaluators.base import Request, Result
from polyhedral.schedule import apply


def with_board(result: Result, request: Request, board: str) -> Result:
    """The result with the figures of a board; as it is where there are none.

    Args:
        result: of the white box or a predictor, for the request.
        request: the design.
        board: its name.

    Raises:
        WeftError: as for the evaluation, which went well before.
    """
    state = apply(request.program, request.schedule)
    where = setting(request.tool, request.device, request.clock, calibration=request.calibration)
    found = accelerator_of(ranked(state, request.schedule, where), request.program, board)
    return result if isinstance(found, str) else replace(result, board=found.kept)
