"""``partition(array, dim, scheme, factor)``: one dimension of an array over several memories.

``cyclic`` puts element x into memory ``x % factor``, ``block`` into ``x // ceil(extent/factor)``,
``complete`` gives each its own (registers). The latest step for a dimension counts.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors import ScheduleError
from dsl.steps import Partition
from polyhedral.lookup import find_array
from polyhedral.scheduled import ScheduledScop


def partition(state: ScheduledScop, step: Partition) -> ScheduledScop:
    """Record the partition; W207 if dimension or factor do not fit the array."""
    array = find_array(state, step.array, step)
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
    elif not 1 <= step.factor <= extent:
        raise ScheduleError(
            "W207",
            f"factor {step.factor} does not fit dimension {step.dim} of {array.name}, "
            f"which has {extent} elements",
            span=step.span,
        )
    kept = tuple(p for p in state.partitions if (p.array, p.dim) != (step.array, step.dim))
    added = () if step.scheme != "complete" and step.factor == 1 else (step,)
    return replace(state, partitions=(*kept, *added))
