"""``auto_partition(array)``: the partitions that the copies of the bodies which access an array want.

They are found when the loops stand (`polyhedral.banks.wanted`), after all other steps, wherever this one is.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import AutoPartition
from polyhedral.scop.lookup import find_array
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform


@transform(AutoPartition, order=Order.KEPT)
def auto_partition(state: ScheduledScop, step: AutoPartition) -> ScheduledScop:
    """Record the request; W207 of a scalar."""
    array = find_array(state, step.array, step)
    if not array.shape:
        raise ScheduleError(
            "W207",
            f"{array.name} has no dimensions",
            span=step.span,
            help="a scalar needs no partition",
        )
    if any(known.array == array.name for known in state.auto_partitions):
        return state
    return replace(state, auto_partitions=(*state.auto_partitions, step))
