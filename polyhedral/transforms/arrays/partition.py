"""``partition(array, dim, scheme, factor)``: one dimension of an array over several memories.

``cyclic`` puts element x into memory ``x % factor``, ``block`` into ``x // ceil(extent/factor)``,
``complete`` gives each its own (registers). A dimension is partitioned once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar, get_args

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.programs.program import Array
from dsl.schedules.pragma_steps import Reshape
from dsl.schedules.steps import Partition, PartitionKind
from polyhedral.requests.repeated import contradiction, once, told
from polyhedral.scop.lookup import find_array
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform

S = TypeVar("S", Partition, Reshape)

_MEANS = {
    "partition": "over how many memories {} is spread",
    "reshape": "how many elements of {} are in a word",
}
_INSTEAD = {
    "partition": 'or "complete" for a register for each element; auto_partition("{}") finds the factors',
    "reshape": 'or "complete" for the whole dimension',
}


@transform(Partition, order=Order.KEPT)
def partition(state: ScheduledScop, step: Partition) -> ScheduledScop:
    """Record the partition; W207 if dimension or factor do not fit the array."""
    step = fitted_to(find_array(state, step.array, step), step)
    same = [p for p in state.partitions if (p.array, p.dim) == (step.array, step.dim)]
    what = f"the partition of dimension {step.dim} of '{step.array}'"
    check_apart(step, state.reshapes)
    if step.factor == 1:  # one memory: what there is without a request
        if same:
            raise contradiction(step, what, told(same[0]), same[0])
        return state
    return replace(state, partitions=once(state.partitions, same, step, what))


def fitted_to(array: Array, step: S) -> S:
    """The step, of a dimension of the array and with a factor that fits it; W207 where one does not."""
    if step.scheme not in get_args(PartitionKind):
        raise ScheduleError(
            "W207",
            f"no {step.kind} is called '{step.scheme}'",
            span=step.span,
            help=did_you_mean(step.scheme, get_args(PartitionKind)),
        )
    if not 0 <= step.dim < len(array.shape):
        raise ScheduleError(
            "W207",
            f"{array.name} has {len(array.shape)} dimensions, there is no dimension {step.dim}",
            span=step.span,
            help="dimensions count from 0" if array.shape else f"a scalar needs no {step.kind}",
        )
    extent = array.shape[step.dim]
    if step.scheme == "complete":
        if step.factor not in (0, extent):
            raise ScheduleError("W207", f"a complete {step.kind} takes no factor", span=step.span)
        step = replace(step, factor=0)
    elif step.factor == 0:
        raise ScheduleError(
            "W207",
            f"a {step.scheme} {step.kind} needs a factor: {_MEANS[step.kind].format(array.name)}",
            span=step.span,
            help=f'write {step.kind}("{array.name}", {step.dim}, "{step.scheme}", 2), '
            f"{_INSTEAD[step.kind].format(array.name)}",
        )
    elif not 1 <= step.factor <= extent:
        raise ScheduleError(
            "W207",
            f"factor {step.factor} does not fit dimension {step.dim} of {array.name}, "
            f"which has {extent} elements",
            span=step.span,
        )
    return step


def check_apart(step: Partition | Reshape, others: Iterable[Partition | Reshape]) -> None:
    """W223 where the dimension is in words already that is to be in banks, or the other way round."""
    for other in others:
        if (other.array, other.dim) == (step.array, step.dim):
            what = f"the memory of dimension {step.dim} of '{step.array}'"
            raise contradiction(step, what, told(other), other)
