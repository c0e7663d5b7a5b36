"""A request for a loop, in all its copies: no step, but what some of them do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dsl.schedules.loop_requests import LoopRequests
from dsl.schedules.steps import Step
from polyhedral.requests.repeated import contradiction
from polyhedral.scop.lookup import dim_of, find_loop, with_loop
from polyhedral.scop.scheduled import ScheduledScop


def requested(
    state: ScheduledScop,
    loop: str,
    step: Step,
    asked: Callable[[LoopRequests], object],
    new: LoopRequests,
) -> ScheduledScop:
    """The state with one more request.

    Args:
        state: to be changed.
        loop: its name.
        step: that asks.
        asked: what there is of this kind of request among others; false where there is none.
        new: with the request and no other.

    Raises:
        ScheduleError: W201, W202 which loop; W223 it is asked for in another way already.
    """
    uid = find_loop(state, loop, step)
    known = dim_of(with_loop(state, uid)).requests
    wanted = asked(new)
    if asked(known) and asked(known) != wanted:
        raise contradiction(step, f"the {step.kind} of '{loop}'", str(asked(known)))
    changed = {
        name: value
        for name in LoopRequests.__slots__
        if (value := getattr(new, name)) != getattr(LoopRequests(), name)
    }
    return state.with_pieces(
        p
        if (k := p.level(uid)) is None
        else p.with_dim(k, replace(p.dims[k], requests=replace(p.dims[k].requests, **changed)))
        for p in state.pieces
    )
