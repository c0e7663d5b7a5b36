"""``unroll(loop, factor)``: ask for copies of a loop's body; factor 0 is completely.

Where the factor does not divide the trip count, the last iterations become a remainder nest of
their own, completely unrolled::

    for i in range(10): S(i)        # unroll("i", 4)

    for i in range(8): S(i)         # unrolled by 4
    for i in range(8, 10): S(i)     # unrolled completely; where the loop is a pipeline, that alone

With ``tail="guard"`` the loop stays whole and the tool adds exit checks. A loop whose bounds vary is
unrolled completely by it, to the most iterations that it has, each under a guard::

    for i in range(8):
      for j in range(i): S(i, j)    # unroll("j", tail="guard")

    for i in range(8):
      for j in range(7):            # unrolled completely
        if j < i: S(i, j)

``skip_exit_check`` leaves the exit checks out where the trip count varies: that the factor divides every one of them is
proven at the end of the schedule (`polyhedral.requests.promised`).
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine, Constraint
from dsl.schedules.steps import Unroll
from polyhedral.requests.repeated import contradiction
from polyhedral.scop.lookup import check_tail, find_loop
from polyhedral.scop.ranges import Interval, common_interval, loop_copies, whole_range
from polyhedral.scop.scheduled import Piece, Place, ScheduledScop
from polyhedral.transforms.guarding import cut_down, side_by_side
from polyhedral.transforms.registry import Order, transform


@transform(Unroll, order=Order.KEPT)
def unroll(state: ScheduledScop, step: Unroll) -> ScheduledScop:
    """Annotate the loop in all its copies; see the module."""
    if step.factor < 0:
        raise ScheduleError("W207", f"the factor is {step.factor}, below 0", span=step.span)
    check_tail(step.tail, step)
    uid = find_loop(state, step.loop, step)
    if step.skip_exit_check:
        if step.factor < 2:
            raise ScheduleError(
                "W207",
                "an exit check is skipped between copies of a loop that goes on: with a factor of 2 or more",
                span=step.span,
                help="leave it out: a loop that is unrolled completely has none",
            )
        state = replace(state, promised=(*state.promised, (uid, step)))
    changed: dict[int, list[tuple[Piece, Place]]] = {}
    for members in loop_copies(state, uid):
        interval = common_interval(members)
        whole = whole_range(members) if interval is None and _guards(step) else None
        for piece, level in members:
            if whole is not None:
                changed[id(piece)] = _guarded(piece, level, whole, step)
            else:
                changed[id(piece)] = _unrolled(piece, level, interval, step)
    placed: list[tuple[Piece, Place]] = []
    for piece in state.pieces:
        placed += changed.get(id(piece), [(piece, piece.place)])
    return state.with_places(placed)


def _guards(step: Unroll) -> bool:
    return step.factor == 0 and step.tail == "guard"


def _guarded(piece: Piece, level: int, whole: Interval, step: Unroll) -> list[tuple[Piece, Place]]:
    """The piece with a loop over a whole range, cut down to what it runs by guards.

    W207 where guards in the program's terms do not say that.
    """
    new = _marked(piece, level, 0, step)

    def widened(domain: isl.Set) -> isl.Set:
        kind = isl.dim_type.set
        free = domain.project_out(kind, level, 1).insert_dims(kind, level, 1)
        low, high = isl.Val(whole.first), isl.Val(whole.last)
        return free.lower_bound_val(kind, level, low).upper_bound_val(kind, level, high)

    parts = cut_down(replace(new, hull=widened(new.hull), frame=widened(new.frame)))
    if parts is None:
        text = f"the iterations of '{step.loop}' cannot be told by guards"
        raise ScheduleError("W207", text, span=step.span)
    return side_by_side(parts, piece.place)


def _unrolled(
    piece: Piece, level: int, interval: Interval | None, step: Unroll
) -> list[tuple[Piece, Place]]:
    if step.factor == 1:
        return [(_marked(piece, level, None, step), piece.place)]
    if interval is None or step.factor == 0:
        return [(_marked(piece, level, step.factor, step), piece.place)]
    if step.factor >= interval.extent:
        return [(_marked(piece, level, 0, step), piece.place)]
    rest = interval.extent % step.factor
    if rest == 0 or step.tail == "guard":
        return [(_marked(piece, level, step.factor, step), piece.place)]
    counter = Affine.of(piece.dims[level].name)
    last = interval.last - rest
    old = piece.dims[level]
    stays = old.pipeline_ii is not None or old.sequential
    sides: tuple[tuple[int | None, Constraint], ...] = (
        (step.factor, Constraint(-counter + last)),
        (None if stays else 0, Constraint(counter - (last + 1))),
    )
    found: list[tuple[Piece, Place]] = []
    for part, (factor, side) in enumerate(sides):
        new = _marked(piece, level, factor, step)
        new = new.transformed(new.dims, {}, [side])
        at = (piece.place[level], part)
        if not new.domain.is_empty():
            found.append((new, (*piece.place[:level], at, *piece.place[level + 1 :])))
    return found


def _marked(piece: Piece, level: int, factor: int | None, step: Unroll) -> Piece:
    """W223 if another factor was asked for."""
    old = piece.dims[level]
    known, skips = old.unroll, step.skip_exit_check and bool(factor)
    if known and known == factor and skips != old.requests.skip_exit_check:
        raise contradiction(
            step, f"the unrolling of '{step.loop}'", "with, or without, exit checks"
        )
    if known is not None and known != factor:
        asked = f"a factor of {known}" if known else "to unroll it completely"
        raise contradiction(step, f"the unrolling of '{step.loop}'", asked)
    requests = replace(old.requests, skip_exit_check=skips)
    return piece.with_dim(level, replace(old, unroll=factor, requests=requests))
