"""``dataflow(processes)`` and ``stream(array, depth)``: nests that run at the same time.

Before::

    for i in range(8):
      T[i] = A[i]
    for i in range(8):
      B[i] = T[i]

After ``dataflow()`` the loops are the same, but each nest is a process: the second starts when T is
there, and the first may already work on the next T (a memory of two halves). After ``stream("T")``
the second starts with the first element, and T is a FIFO of a few words.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Dataflow, Step, Stream
from polyhedral.dataflow.processes import channels, check_names
from polyhedral.dataflow.streams import check_streams
from polyhedral.requests.repeated import once
from polyhedral.scop.lookup import find_array
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform

_DEEPEST = 2**24


@transform(Dataflow, order=Order.KEPT)
def dataflow(state: ScheduledScop, step: Dataflow) -> ScheduledScop:
    """Make processes of the nests."""
    check_names(state, step)
    known = () if state.dataflow is None else (state.dataflow,)
    return replace(state, dataflow=once(known, known, step, "the region of processes")[0])


@transform(Stream, order=Order.KEPT)
def stream(state: ScheduledScop, step: Stream) -> ScheduledScop:
    """Make a FIFO of an array between two processes."""
    array = find_array(state, step.array, step)
    if not 1 <= step.depth <= _DEEPEST:
        raise ScheduleError(
            "W207", f"the depth {step.depth} is not between 1 and {_DEEPEST}", span=step.span
        )
    if not array.shape:
        raise ScheduleError(
            "W220", f"'{array.name}' is a scalar: the tool hands it on by itself", span=step.span
        )
    if state.dataflow is None:
        raise ScheduleError(
            "W220",
            f"'{array.name}' is a stream only between processes",
            span=step.span,
            help="dataflow() first makes processes of the nests",
        )
    same = [s for s in state.streams if s.array == step.array]
    return replace(state, streams=once(state.streams, same, step, f"the stream '{step.array}'"))


def check_region(before: ScheduledScop, state: ScheduledScop, step: Step) -> None:
    """Are the processes of the state still independent but for their channels?

    Args:
        before: the state that the step was applied to; what held there and is the same holds.
        state: the new one.
        step: what is refused.

    Raises:
        ScheduleError: W217 to W220, see `polyhedral.dataflow.processes` and
        `polyhedral.dataflow.streams`.
    """
    if state.dataflow is None:
        return
    same = before.pieces == state.pieces and before.dataflow == state.dataflow
    known = set(before.streams) if same and before.partitions == state.partitions else set()
    check_streams(state, channels(state, step), step, frozenset(known))
