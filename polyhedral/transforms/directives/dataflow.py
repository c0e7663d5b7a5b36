"""``dataflow(processes, at)`` and ``stream(array, depth)``: nests that run at the same time.

Before::

    for i in range(8):
      T[i] = A[i]
    for i in range(8):
      B[i] = T[i]

After ``dataflow()`` the loops are the same, but each nest is a process: the second starts when T is
there, and the first may already work on the next T (a memory of two halves). After ``stream("T")``
the second starts with the first element, and T is a FIFO of a few words.

With ``at`` the nests of a loop are the processes. Before::

    for t in range(4):
      for i in range(8):
        in[i] = A[8*t + i]
      for i in range(8):
        B[8*t + i] = f(in[i])

After ``dataflow(at="t")`` the loops are the same, but while a tile is worked on the next one is read:
``in`` has two halves (`polyhedral.legality.loop_regions`).
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Dataflow, Step, Stream
from polyhedral.dataflow.processes import channels, check_names
from polyhedral.dataflow.streams import check_streams
from polyhedral.legality.loop_regions import check_loop_regions
from polyhedral.requests.repeated import once
from polyhedral.scop.lookup import dim_of, find_array, find_loop, with_loop
from polyhedral.scop.scheduled import Dim, Piece, ScheduledScop
from polyhedral.transforms.registry import Order, transform

_DEEPEST = 2**24


@transform(Dataflow, order=Order.KEPT)
def dataflow(state: ScheduledScop, step: Dataflow) -> ScheduledScop:
    """Make processes of the nests, of the function or of a loop."""
    check_names(state, step)
    if step.at:
        return _in_loop(state, step)
    known = () if state.dataflow is None else (state.dataflow,)
    return replace(state, dataflow=once(known, known, step, "the region of processes")[0])


def _in_loop(state: ScheduledScop, step: Dataflow) -> ScheduledScop:
    uid = find_loop(state, step.at, step)
    members = with_loop(state, uid)
    inside = {p.name for p, _ in members}
    away = next((s for group in step.processes for s in group if s not in inside), None)
    if away is not None:
        raise ScheduleError("W220", f"{away} is not in the loop '{step.at}'", span=step.span)
    region = dim_of(members).region
    known = () if region is None else (region,)
    once(known, known, step, f"the region of '{step.at}'")
    return state.with_pieces(
        p if (k := p.level(uid)) is None else p.with_dim(k, replace(p.dims[k], region=step))
        for p in state.pieces
    )


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
    if state.overlaps and not _annotated_only(before, state):
        check_loop_regions(state, step)
    if state.dataflow is None:
        return
    same = before.pieces == state.pieces and before.dataflow == state.dataflow
    known = set(before.streams) if same and before.partitions == state.partitions else set()
    check_streams(state, channels(state, step), step, frozenset(known))


def _annotated_only(before: ScheduledScop, after: ScheduledScop) -> bool:
    """Whether nothing is said anew but of arrays, and of loops inside of regions."""
    if before.dataflow != after.dataflow or len(before.pieces) != len(after.pieces):
        return False
    return all(
        p is q or (p.place == q.place and p.domain is q.domain and _to_region(p) == _to_region(q))
        for p, q in zip(before.pieces, after.pieces, strict=True)
    )


def _to_region(piece: Piece) -> tuple[Dim, ...]:
    """The loops of a piece down to the innermost whose body is a region."""
    last = max((k for k, d in enumerate(piece.dims) if d.region is not None), default=-1)
    return piece.dims[: last + 1]
