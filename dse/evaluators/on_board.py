"""An evaluated design on a board, where its arrays are in memory outside."""

from __future__ import annotations

from dataclasses import replace

from dse.accelerator.figures import accelerator_of
from dse.estimates.estimation import Estimation
from dse.evaluators.base import Result
from dsl.programs.program import Program
from qor_gnn.schedule.alike import Alike


def with_board(
    result: Result, found: Estimation, program: Program, board: str, known: Alike | None = None
) -> Result:
    """The result with the figures of a board; as it is where there are none.

    Args:
        result: of the white box or a predictor.
        found: the same design, estimated.
        program: without its schedule.
        board: its name.
        known: scopes of the design, whose bodies are used again.
    """
    on = accelerator_of(found, program, board, known)
    return result if isinstance(on, str) else replace(result, board=on.kept)
