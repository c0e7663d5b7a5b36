"""``partition(array, dim, scheme, factor)``: one dimension of an array over several memories.

``cyclic`` puts element x into memory ``x % factor``, ``block`` into ``x // ceil(extent/factor)``,
``complete`` gives each its own (registers). A dimension is partitioned once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.schedules.steps import Partition, PartitionKind
from polyhedral.requests.repeated import contradiction, once, told
from polyhedral.scop.lookup import find_array
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform


@transform(Partition, order=Order.KEPT)
def partition(state: ScheduledScop, step: Partition) -> ScheduledScop:
    """Record the partition; W207 if dimension or factor do not fit the array."""
    array = find_array(state, step.array, step)
    if step.scheme not in get_args(PartitionKind):
        raise ScheduleError(
            "W207",
            f"no partition is called '{step.scheme}'",
            span=step.span,
            help=did_you_mean(step.scheme, get_args(PartitionKind)),
        )
    if not 0 <= step.dim < len(array.shape):
        raise ScheduleError(
            "W207",
            f"{array.name} has {len(array.shape)} dimensions, there is no dimension {step.dim}",
            span=step.span,
            help="dimensions count from 0" if array.shape else "a scalar needs no partition",
        )
    extent = array.shape[step.dim]
    if step.scheme == "complete":
        if step.factor not in (0, extent):
            raise ScheduleError("W207", "a complete partition takes no factor", span=step.span)
        step = replace(step, factor=0)
    elif step.factor == 0:
        raise ScheduleError(
            "W207",
            f"a {step.scheme} partition needs a factor: over how many memories {array.name} is "
            "spread",
            span=step.span,
            help=f'write partition("{array.name}", {step.dim}, "{step.scheme}", 2), or "complete" '
            f'for a register for each element; auto_partition("{array.name}") finds the factors',
        )
    elif not 1 <= step.factor <= extent:
        raise ScheduleError(
            "W207",
            f"factor {step.factor} does not fit dimension {step.dim} of {array.name}, "
            f"which has {extent} elements",
            span=step.span,
        )
    same = [p for p in state.partitions if (p.array, p.dim) == (step.array, step.dim)]
    what = f"the partition of dimension {step.dim} of '{step.array}'"
    if step.factor == 1:  # one memory: what there is without a request
        if same:
            raise contradiction(step, what, told(same[0]), same[0])
        return state
    return replace(state, partitions=once(state.partitions, same, step, what))
