"""``tile(loops, factors)``: split each loop, all block loops outside of all point loops.

Before::

    for i in range(64):
      for j in range(64):
        S(i, j)

After ``tile(["i", "j"], [8, 16])``::

    for i_0 in range(8):
      for j_0 in range(4):
        for i_1 in range(8):
          for j_1 in range(16):
            S(8*i_0 + i_1, 16*j_0 + j_1)
"""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Tile
from polyhedral.scop.lookup import check_new_name, dim_of, find_loop, with_loop
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.loops.reorder import reorder_loops
from polyhedral.transforms.loops.split import split_loop
from polyhedral.transforms.registry import Order, transform


@transform(Tile, order=Order.PERMUTED)
def tile(state: ScheduledScop, step: Tile) -> ScheduledScop:
    """Tile a band of loops; see the module."""
    if len(step.loops) != len(step.factors):
        raise ScheduleError(
            "W207",
            f"{len(step.loops)} loops and {len(step.factors)} factors",
            span=step.span,
            help="give one factor a loop",
        )
    if not step.loops:
        raise ScheduleError("W204", "tile needs loops", span=step.span)
    uids = [find_loop(state, ref, step) for ref in step.loops]
    if len(set(uids)) < len(uids):
        raise ScheduleError("W204", "a loop is named twice", span=step.span)
    state = reorder_loops(state, uids, step)  # also tells whether they are one perfect nest
    blocks, points = [], []
    for uid, factor in zip(uids, step.factors, strict=True):
        name = dim_of(with_loop(state, uid)).name
        names = (f"{name}_0", f"{name}_1")
        for new in names:
            check_new_name(state, uid, new, step)
        state, block, point = split_loop(state, uid, factor, names, step.tail, step)
        blocks.append(block)
        points.append(point)
    return reorder_loops(state, [*blocks, *points], step)
