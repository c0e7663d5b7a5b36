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
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.requesting import requested


@transform(Leave, order=Order.KEPT)
def leave(state: ScheduledScop, step: Leave) -> ScheduledScop:
    """Annotate the loop, in all its copies; W207 where fewer than no trips are expected."""
    if step.trips < 0:
        raise ScheduleError(
            "W207",
            f"{step.trips} trips are expected, which is fewer than none",
            span=step.span,
            help="leave trips out where it is not known",
        )
    new = LoopRequests(leaving=Leaving(step.trips))
    made = requested(state, step.loop, step, lambda r: r.leaving, new)
    return replace(made, promised=(*made.promised, (find_loop(state, step.loop, step), step)))
