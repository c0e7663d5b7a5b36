"""``pipeline(loop, ii)``: ask for a pipelined loop.

Iterations start every ``ii`` cycles. All loops inside are unrolled completely by the tool, so they
need constant trip counts (checked in `polyhedral.annotations`).
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors import ScheduleError
from dsl.steps import Flatten, Pipeline
from polyhedral.lookup import find_loop
from polyhedral.scheduled import ScheduledScop


def pipeline(state: ScheduledScop, step: Pipeline) -> ScheduledScop:
    """Annotate the loop, in all its copies."""
    if step.ii < 1:
        raise ScheduleError("W207", f"the interval is {step.ii}, not at least 1", span=step.span)
    uid = find_loop(state, step.loop, step)
    return state.with_pieces(
        p if (k := p.level(uid)) is None else p.with_dim(k, replace(p.dims[k], pipeline_ii=step.ii))
        for p in state.pieces
    )


def flatten(state: ScheduledScop, step: Flatten) -> ScheduledScop:
    """Ask for, or forbid, flattening the perfect nest that ends in the loop."""
    uid = find_loop(state, step.loop, step)
    return state.with_pieces(
        p
        if (k := p.level(uid)) is None
        else p.with_dim(k, replace(p.dims[k], flatten=step.enabled))
        for p in state.pieces
    )
