"""``performance(loop, target_ti)``: after how many cycles a loop is to begin again.

The program stays as it is; how the loop is unrolled and pipelined, and which banks arrays have, the tool chooses by itself
(UG1399, pragma HLS performance, from 2022.1 on).
"""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.schedules.loop_requests import LoopRequests
from dsl.schedules.pragma_steps import Performance
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.requesting import requested


@transform(Performance, order=Order.KEPT)
def performance(state: ScheduledScop, step: Performance) -> ScheduledScop:
    """Annotate the loop, in all its copies; W207 where the target is below a cycle."""
    if step.target_ti < 1:
        raise ScheduleError(
            "W207", f"the target is {step.target_ti} cycles, not at least 1", span=step.span
        )
    new = LoopRequests(target_ti=step.target_ti)
    return requested(state, step.loop, step, lambda r: r.target_ti, new)
