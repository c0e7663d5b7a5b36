"""``shift(stmt, loop, amount)``: delay one statement in a loop that it may share with others.

Before::

    for i in range(1, N):
      S0(i)
      S1(i)

After ``shift("S1", "i", 1)``::

    for i in range(1, N + 1):
      if i < N: S0(i)
      if i >= 2: S1(i - 1)
"""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.schedules.steps import Shift
from polyhedral.scop.lookup import find_loop, find_statement
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.transforms.registry import transform


@transform(Shift)
def shift(state: ScheduledScop, step: Shift) -> ScheduledScop:
    """Shift one statement; see the module."""
    find_statement(state, step.stmt, step)
    ref = step.loop if "." in step.loop else f"{step.stmt}.{step.loop}"
    uid = find_loop(state, ref, step)
    pieces: list[Piece] = []
    moved = False
    for piece in state.pieces:
        level = piece.level(uid)
        if level is None or piece.name != step.stmt:
            pieces.append(piece)
            continue
        moved = True
        name = piece.dims[level].name
        value = {name: Affine.of(name) - step.amount}
        pieces.append(piece.transformed(piece.dims, value))
    if not moved:
        raise ScheduleError(
            "W204", f"'{step.loop}' is not a loop around {step.stmt}", span=step.span
        )
    return state.with_pieces(pieces)
