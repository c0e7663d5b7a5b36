"""``pipeline(loop, ii)``: ask for a pipelined loop; ``sequential(loop)``: forbid it.

Iterations start every ``ii`` cycles. All loops inside are unrolled completely by the tool, so they
need constant trip counts (checked in `polyhedral.requests.annotations`). A loop that runs once, as
that over blocks of a whole extent, stays a loop of one iteration in the code, so that its pragma is
there. Of a loop that is unrolled by a factor which does not divide, what the factor leaves is a pipeline
without copies (`polyhedral.transforms.loops.unroll`).

``style`` and ``rewind`` change no order of the program. A pipeline that is rewound begins its next call while this one
ends: what that needs is asked at the end of the schedule (`polyhedral.requests.promised`), as is what one that runs free
accesses. The loop ``"return"`` is the function itself, of which all loops are unrolled then
(`polyhedral.requests.whole_pipeline`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.schedules.loop_requests import PipelineStyle
from dsl.schedules.pragma_steps import Sequential
from dsl.schedules.steps import Flatten, Pipeline
from polyhedral.requests.outside import RETURN
from polyhedral.requests.repeated import contradiction, once
from polyhedral.scop.lookup import dim_of, find_loop, with_loop
from polyhedral.scop.ranges import constant_interval, loop_copies
from polyhedral.scop.scheduled import Dim, LoopId, Piece, ScheduledScop
from polyhedral.transforms.registry import Order, transform


@transform(Pipeline, order=Order.KEPT)
def pipeline(state: ScheduledScop, step: Pipeline) -> ScheduledScop:
    """Annotate the loop, in all its copies."""
    if step.ii < 1:
        raise ScheduleError("W207", f"the interval is {step.ii}, not at least 1", span=step.span)
    _check_style(step)
    if step.loop == RETURN:
        same = () if state.pipeline is None else (state.pipeline,)
        (made,) = once(same, same, step, "the pipeline of the function")
        return replace(state, pipeline=made)
    uid = find_loop(state, step.loop, step)
    known = dim_of(with_loop(state, uid)).pipeline_ii
    if known not in (None, step.ii):
        raise contradiction(step, f"the pipeline of '{step.loop}'", f"an interval of {known}")
    asked = dim_of(with_loop(state, uid)).requests
    if known is not None and (asked.style, asked.rewind) != (step.style, step.rewind):
        raise contradiction(step, f"the pipeline of '{step.loop}'", "another style, or rewinding,")
    looped = _looped(state, uid)
    requests = replace(asked, style=step.style, rewind=step.rewind)
    if step.rewind or step.style == "frp":
        state = replace(state, promised=(*state.promised, (uid, step)))
    return state.with_pieces(
        p
        if (k := p.level(uid)) is None
        else p.with_dim(
            k, replace(_left(p.dims[k], looped), pipeline_ii=step.ii, requests=requests)
        )
        for p in state.pieces
    )


def _check_style(step: Pipeline) -> None:
    """W207 a style that there is not, W213 one that excludes rewinding, or a function that is rewound."""
    if step.style not in get_args(PipelineStyle):
        raise ScheduleError(
            "W207",
            f"no style of pipelines is called '{step.style}'",
            span=step.span,
            help=did_you_mean(step.style, ("stp", "flp", "frp")) or "it is stp, flp or frp",
        )
    if step.style == "frp" and step.rewind:
        raise ScheduleError(
            "W213",
            f"'{step.loop}' cannot both run free and be rewound",
            span=step.span,
            help="leave one of the two out, or let it flush: style flp",
        )
    if step.rewind and step.loop == RETURN:
        raise ScheduleError(
            "W213",
            "a function is not rewound: it is pipelined, or a loop that is all of it is rewound",
            span=step.span,
            help="leave rewind out",
        )


def _looped(state: ScheduledScop, uid: LoopId) -> bool:
    """Some copy of the loop is not unrolled completely."""
    return any((k := p.level(uid)) is not None and p.dims[k].unroll != 0 for p in state.pieces)


def _left(dim: Dim, looped: bool) -> Dim:
    """The loop; one that is unrolled completely beside copies that are not, as what their factor leaves, is none
    any more.
    """
    return replace(dim, unroll=None) if looped and dim.unroll == 0 else dim


@transform(Sequential, order=Order.KEPT)
def sequential(state: ScheduledScop, step: Sequential) -> ScheduledScop:
    """Annotate the loop, in all its copies. What goes against it is found in `polyhedral.requests.annotations`."""
    uid = find_loop(state, step.loop, step)
    looped = _looped(state, uid)
    return state.with_pieces(
        p
        if (k := p.level(uid)) is None
        else p.with_dim(k, replace(_left(p.dims[k], looped), sequential=True))
        for p in state.pieces
    )


@transform(Flatten, order=Order.KEPT)
def flatten(state: ScheduledScop, step: Flatten) -> ScheduledScop:
    """Ask for, or forbid, flattening the perfect nest that ends in the loop."""
    uid = find_loop(state, step.loop, step)
    if dim_of(with_loop(state, uid)).flatten not in (None, step.enabled):
        asked = "not to flatten it" if step.enabled else "to flatten it"
        raise contradiction(step, f"the flattening of '{step.loop}'", asked)
    if step.enabled:
        for members in loop_copies(state, uid):
            _check_perfect(state, members, uid, step)
    return state.with_pieces(
        p
        if (k := p.level(uid)) is None
        else p.with_dim(k, replace(p.dims[k], flatten=step.enabled))
        for p in state.pieces
    )


def _check_perfect(
    state: ScheduledScop, members: list[tuple[Piece, int]], uid: LoopId, step: Flatten
) -> None:
    """W225 unless the loop is all that the loop around it runs, and always runs as often."""
    piece, level = members[0]
    why: str | None = None
    if level == 0:
        why = "it is in no other loop"
    else:
        around = [p for p in state.pieces if p.place[:level] == piece.place[:level]]
        others = [p for p in around if p.level(uid) is None or p.place[level] != piece.place[level]]
        outer = piece.dims[level - 1].name
        if others:
            why = f"{others[0].name} stands beside it in '{outer}'"
        elif any(constant_interval(p, k) is None for p, k in members):
            why = "its trip count varies"
    if why is not None:
        raise ScheduleError(
            "W225",
            f"'{step.loop}' cannot be flattened: {why}",
            span=step.span,
            help="a loop becomes one with the loop around it where nothing else is in that and its "
            "bounds are constant",
        )
