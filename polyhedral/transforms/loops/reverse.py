"""``reverse(loop)``: run a loop backwards.

Before::

    for i in range(10):
      S(i)

After ``reverse("i")``::

    for i in range(10):
      S(9 - i)
"""

from __future__ import annotations

from dsl.expressions.affine import Affine
from dsl.schedules.steps import Reverse
from polyhedral.scop.lookup import find_loop
from polyhedral.scop.ranges import common_interval, loop_copies
from polyhedral.scop.scheduled import Piece, ScheduledScop
from polyhedral.transforms.registry import transform


@transform(Reverse)
def reverse(state: ScheduledScop, step: Reverse) -> ScheduledScop:
    """Reverse one loop; see the module."""
    uid = find_loop(state, step.loop, step)
    changed: dict[int, Piece] = {}
    for members in loop_copies(state, uid):
        interval = common_interval(members)
        around = interval.first + interval.last if interval else 0
        for piece, level in members:
            name = piece.dims[level].name
            value = -Affine.of(name) + around
            changed[id(piece)] = piece.transformed(piece.dims, {name: value})
    return state.with_pieces(changed.get(id(p), p) for p in state.pieces)
