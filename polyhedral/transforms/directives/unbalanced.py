"""``unbalanced(loop)``: sums in a loop stay in the order in which they are written.

A tool adds the terms of a sum of integers in a tree. The result is the same, so the program stays as it is; a chain takes
longer and has fewer values at once (UG1399, pragma HLS expression_balance off). Sums of floats are in order anyway.
"""

from __future__ import annotations

from dsl.schedules.loop_requests import LoopRequests
from dsl.schedules.pragma_steps import Unbalanced
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.requesting import requested


@transform(Unbalanced, order=Order.KEPT)
def unbalanced(state: ScheduledScop, step: Unbalanced) -> ScheduledScop:
    """Annotate the loop, in all its copies."""
    return requested(state, step.loop, step, lambda r: r.unbalanced, LoopRequests(unbalanced=True))
