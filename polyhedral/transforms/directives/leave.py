"""``leave(loop)``: a loop ends where data say so, at a bound that is read or behind a ``break``.

The program stays as it is: a loop runs to the most that there may be, and its iterations behind the end do nothing. That
they do nothing is proven of the loops as they are built (`polyhedral.codegen.exits`); so nothing is asked of the order here.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.schedules.loop_requests import Leaving, LoopRequests
from dsl.schedules.pragma_steps import Leave
from polyhedral.scop.lookup import find_loop
from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.requesting import requested


@transform(Leave, order=Order.KEPT)
def leave(state: ScheduledScop, step: Leave) -> ScheduledScop:
    """Annotate the loop, in all its copies but those that are unrolled completely beside others, as what a factor leaves;
    W207 where fewer than no trips are expected.
    """
    if step.trips < 0:
        raise ScheduleError(
            "W207",
            f"{step.trips} trips are expected, which is fewer than none",
            span=step.span,
            help="leave trips out where it is not known",
        )
    new = LoopRequests(leaving=Leaving(step.trips))
    uid = find_loop(state, step.loop, step)
    made = requested(state, step.loop, step, lambda r: r.leaving, new)
    looped = any((k := p.level(uid)) is not None and p.dims[k].unroll != 0 for p in made.pieces)
    if looped:
        made = made.with_pieces(_without(p, uid) for p in made.pieces)
    return replace(made, promised=(*made.promised, (uid, step)))


def _without(piece: Piece, uid: LoopId) -> Piece:
    """The piece, of whose loop nothing is asked where it is unrolled completely."""
    level = piece.level(uid)
    if level is None or piece.dims[level].unroll != 0:
        return piece
    dim = piece.dims[level]
    return piece.with_dim(level, replace(dim, requests=replace(dim.requests, leaving=None)))
