"""The model's answer to a request, with the regions that further questions are asked about."""

from __future__ import annotations

from dse.estimates.estimation import Estimation, ranked, setting
from dse.evaluators.base import Request
from polyhedral.schedule import apply


def estimation_of(request: Request) -> Estimation:
    """A design that was evaluated before, estimated from its loops.

    Raises:
        WeftError: as for the evaluation, which went well.
    """
    state = apply(request.program, request.schedule)
    where = setting(request.tool, request.device, request.clock, calibration=request.calibration)
    return ranked(state, request.schedule, where)
