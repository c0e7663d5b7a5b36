"""phi of an evaluated design: its cycles where the tool is a little different from what labels say."""

from __future__ import annotations

from dataclasses import replace

from dse.estimates.estimation import Estimation
from dse.estimates.support import with_phi
from dse.evaluators.base import Result
from qor_gnn.schedule.alike import Alike


def with_robustness(
    result: Result, found: Estimation, dsp: int | None, known: Alike | None = None
) -> Result:
    """The result with phi, where it has marks.

    Args:
        result: of the white box or a predictor.
        found: the same design, estimated.
        dsp: slices that it may use.
        known: scopes of the design, whose bodies are used again.
    """
    if result.marks is None:
        return result
    return replace(result, marks=with_phi(result.marks, found, dsp, known))
