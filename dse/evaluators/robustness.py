"""phi of an evaluated design: its cycles where the tool is a little different from what labels say."""

from __future__ import annotations

from dataclasses import replace

from dse.estimates.estimation import ranked, setting
from dse.estimates.support import with_phi
from dse.evaluators.base import Request, Result
from polyhedral.schedule import apply


def with_robustness(result: Result, request: Request, dsp: int | None) -> Result:
    """The result with phi, where it has marks.

    Args:
        result: of the white box or a predictor, for the request.
        request: the design.
        dsp: slices that it may use.

    Raises:
        WeftError: as for the evaluation, which went well before.
    """
    if result.marks is None:
        return result
    state = apply(request.program, request.schedule)
    where = setting(request.tool, request.device, request.clock, calibration=request.calibration)
    found = ranked(state, request.schedule, where)
    return replace(result, marks=with_phi(result.marks, found, dsp))
