"""``latency(loop, min, max)``: how many cycles an iteration of a loop takes, at the least and at the most.

The program stays as it is. A tool makes an iteration longer that is shorter than ``min``; it tries harder for one that is
longer than ``max``, and says so where that is no use (UG1399, pragma HLS latency).
"""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.schedules.loop_requests import LoopRequests
from dsl.schedules.pragma_steps import Latency
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.requesting import requested


@transform(Latency, order=Order.KEPT)
def latency(state: ScheduledScop, step: Latency) -> ScheduledScop:
    """Annotate the loop, in all its copies; W207 where the numbers are none of cycles, or in the wrong order."""
    least, most = step.min, step.max
    if least < 0 or most < 0 or not (least or most) or 0 < most < least:
        raise ScheduleError(
            "W207",
            f"no iteration takes {least} cycles or more and {most} or less",
            span=step.span,
            help="give min or max, or both, max not below min; 0 says nothing",
        )
    return requested(
        state,
        step.loop,
        step,
        lambda r: any(r.latency) and r.latency,
        LoopRequests(latency=(least, most)),
    )
