"""Can an array be a FIFO? Exactly: each element is written once and read once, in one order.

The order is that of the schedule. A partitioned array is a FIFO a memory: then the order counts in
each memory by itself. Whether the depths let all processes end is asked in
`polyhedral.dataflow.deadlock`.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Scatter
from dsl.programs.program import Array
from dsl.schedules.steps import Step, Stream
from polyhedral.dataflow.element_times import (
    Element,
    conditional_loads,
    gatherers,
    read_times,
    same_memory,
    sample_element,
    write_times,
)
from polyhedral.dataflow.processes import Channel, process_pieces
from polyhedral.scop.scheduled import Piece, ScheduledScop


@dataclass(frozen=True, slots=True)
class OrderWitness:
    """Two elements: ``first`` is written before ``second``, but is not read before it."""

    array: str
    first: Element
    second: Element

    def __str__(self) -> str:
        a, b = (f"{self.array}[{', '.join(map(str, e))}]" for e in (self.first, self.second))
        return f"{a} is written before {b}, but is not read before it"


@dataclass(frozen=True, slots=True)
class CountWitness:
    """An element that is not written once and read once."""

    array: str
    element: Element
    fault: str

    def __str__(self) -> str:
        return f"{self.array}[{', '.join(map(str, self.element))}] is {self.fault}"


class NotAStream(ScheduleError):
    """W218: an array cannot be a FIFO; ``witness`` says which elements prove it."""

    def __init__(
        self, step: Step, array: str, witness: OrderWitness | CountWitness, help_: str | None = None
    ) -> None:
        super().__init__(
            "W218",
            f"'{array}' cannot be a stream",
            span=step.span,
            notes=[str(witness)],
            help=help_
            or (
                "reorder the loops of one process like those of the other, or leave it out: the "
                "array is then a memory of two halves"
                if isinstance(witness, OrderWitness)
                else "copy it: a stream hands on each element once"
            ),
        )
        self.witness = witness


def check_streams(
    state: ScheduledScop,
    found: tuple[Channel, ...],
    step: Step,
    known: frozenset[Stream] = frozenset(),
) -> None:
    """Every stream of the state is one.

    Args:
        state: with processes.
        found: its channels.
        step: what is refused.
        known: streams whose order has been checked.

    Raises:
        ScheduleError: W220 it is no channel; W215 its memory is no FIFO; W218 (as `NotAStream`).
    """
    by_array = {c.array: c for c in found}
    for stream in state.streams:
        if stream.array not in by_array:
            raise ScheduleError(
                "W220",
                f"'{stream.array}' does not go from one process to another",
                span=step.span,
                help="only a local array that one process writes and another reads is a stream",
            )
        for s in state.storage:
            if s.array == stream.array and s.type != "fifo":
                raise ScheduleError(
                    "W215", f"the stream '{s.array}' is a fifo, not {s.type}", span=step.span
                )
        if stream not in known:
            _check_stream(state, by_array[stream.array], stream, step)


# -------------------------------------------------------------------------------------- the order


def _check_stream(state: ScheduledScop, channel: Channel, stream: Stream, step: Step) -> None:
    name = channel.array
    array = state.scop.program.array(name)
    pieces = process_pieces(state)
    producers = [p for p in pieces[channel.producer] if p.statement.stmt.target.array == name]
    first = (0,) * len(array.shape)
    for p in producers:
        if isinstance(p.statement.stmt.value, Scatter):
            fault = f"one of those that {p.name} may write, at a subscript that is data"
            raise NotAStream(step, name, CountWitness(name, first, fault))
    own = [p for p in pieces[channel.producer] if _reads(p, name)]
    if own:
        raise NotAStream(step, name, _read_back(state, own[0], array))
    consumers = [p for p in pieces[channel.consumer] if _reads(p, name)]
    if gathering := gatherers(consumers, name):
        fault = f"one of those that {gathering[0]} may read, at a subscript that is data"
        raise NotAStream(step, name, CountWitness(name, first, fault))
    _check_skipped(state, consumers, array, step)
    written, read = write_times(state, producers), read_times(state, consumers, name)
    _check_once(step, array, written, "written")
    _check_once(step, array, read, "read")
    for points, fault in (
        (written.domain().subtract(read.domain()), "written but never read"),
        (read.domain().subtract(written.domain()), "read but not written"),
    ):
        if not points.is_empty():
            raise NotAStream(step, name, CountWitness(name, sample_element(points, array), fault))
    whole = read.dim(isl.dim_type.out) - 1
    at = read.project_out(isl.dim_type.out, whole, 1)
    before = written.lex_lt_map(written)
    within = before.intersect(at.lex_ge_map(at)).intersect(same_memory(state, array))
    if not within.is_empty():
        raise NotAStream(step, name, _witness(within, array))


def _reads(piece: Piece, array: str) -> bool:
    return any(a.array == array for a in piece.statement.reads)


def memories_cross(state: ScheduledScop, channel: Channel) -> bool:
    """Whether elements in different memories of a stream are not read in the order in which they
    are written: then a memory that is full can keep another one empty.
    """
    array = state.scop.program.array(channel.array)
    if not any(p.array == array.name for p in state.partitions):
        return False
    pieces = process_pieces(state)
    written = write_times(
        state, [p for p in pieces[channel.producer] if p.statement.stmt.target.array == array.name]
    )
    read = read_times(
        state, [p for p in pieces[channel.consumer] if _reads(p, array.name)], array.name
    )
    at = read.project_out(isl.dim_type.out, read.dim(isl.dim_type.out) - 1, 1)
    return not written.lex_lt_map(written).intersect(at.lex_gt_map(at)).is_empty()


def _check_skipped(state: ScheduledScop, consumers: list[Piece], array: Array, step: Step) -> None:
    """A conditional expression takes from the FIFO only what it needs."""
    for piece in consumers:
        for access in conditional_loads(piece.statement.stmt.value):
            if access.array == array.name:
                points = piece.times.domain().apply(state.scop.access_map(piece.statement, access))
                fault = f"read where a condition holds: {piece.name}"
                witness = CountWitness(array.name, sample_element(points.lexmin(), array), fault)
                help_ = "read it into a local scalar in front of the condition"
                raise NotAStream(step, array.name, witness, help_)


def _read_back(state: ScheduledScop, piece: Piece, array: Array) -> CountWitness:
    access = next(a for a in piece.statement.reads if a.array == array.name)
    points = piece.times.domain().apply(state.scop.access_map(piece.statement, access))
    fault = f"read by the process that writes it: {piece.name}"
    return CountWitness(array.name, sample_element(points, array), fault)


def _check_once(step: Step, array: Array, times: isl.Map, what: str) -> None:
    if times.is_single_valued():
        return
    space = times.get_space().domain().map_from_set()
    twice = times.lex_lt_map(times).intersect(isl.Map.identity(space))
    witness = CountWitness(
        array.name, sample_element(twice.domain(), array), f"{what} more than once"
    )
    raise NotAStream(step, array.name, witness)


def _witness(pairs: isl.Map, array: Array) -> OrderWitness:
    point = pairs.wrap().sample_point()
    depth, rank = array.scope_depth, len(array.shape)
    values = [
        point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(2 * (depth + rank))
    ]
    half = depth + rank
    return OrderWitness(array.name, tuple(values[depth:half]), tuple(values[half + depth :]))
