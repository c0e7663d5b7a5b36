"""``skew(outer, inner, factor)``: the inner loop runs along ``inner + factor * outer``.

Before::

    for t in range(T):
      for i in range(N):
        S(t, i)

After ``skew("t", "i", 1)``::

    for t in range(T):
      for i in range(t, N + t):
        S(t, i - t)

The order of execution stays the same; what changes is that a later interchange or tiling of the
two loops is legal where distances like (1, -1) forbade it.
"""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.schedules.steps import Skew
from polyhedral.scop.lookup import find_loop
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.transforms.registry import transform


@transform(Skew)
def skew(state: ScheduledScop, step: Skew) -> ScheduledScop:
    """Skew one loop by another; see the module."""
    outer, inner = find_loop(state, step.outer, step), find_loop(state, step.inner, step)
    pieces: list[Piece] = []
    for piece in state.pieces:
        at, by = piece.level(inner), piece.level(outer)
        if at is None:
            pieces.append(piece)
            continue
        if by is None or by >= at:
            raise ScheduleError(
                "W204",
                f"'{step.outer}' is not a loop around '{step.inner}' for {piece.name}",
                span=step.span,
                help="skew an inner loop by a loop around it",
            )
        name = piece.dims[at].name
        value = Affine.of(name) - Affine.of(piece.dims[by].name) * step.factor
        pieces.append(piece.transformed(piece.dims, {name: value}))
    return state.with_pieces(pieces)
