"""Can an array be a FIFO? Exactly: each element is written once and read once, in one order.

The order is that of the schedule. A partitioned array is a FIFO a memory: then the order counts in
each memory by itself, and the depth must not let the processes wait for each other for ever. Where
more than one way leads from a process to another, only FIFOs that never fill are safe: a pipeline
that waits for room stops whole, with the values in it that the other process waits for.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from dsl.errors import ScheduleError
from dsl.expr import loads
from dsl.program import Array
from dsl.steps import Step, Stream
from polyhedral.isl_text import conjunction, dims, map_of
from polyhedral.processes import Channel, process_pieces
from polyhedral.scheduled import Piece, ScheduledScop

Element = tuple[int, ...]


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

    def __init__(self, step: Step, array: str, witness: OrderWitness | CountWitness) -> None:
        super().__init__(
            "W218",
            f"'{array}' cannot be a stream",
            span=step.span,
            notes=[str(witness)],
            help=(
                "reorder the loops of one process like those of the other, or leave it out: the "
                "array is then a memory of two halves"
                if isinstance(witness, OrderWitness)
                else "copy it: a stream hands on each element once"
            ),
        )
        self.witness = witness


class Deadlock(ScheduleError):
    """W219: with a FIFO of so few words the processes could wait for each other for ever."""

    def __init__(self, step: Step, stream: Stream, needed: int, why: str) -> None:
        super().__init__(
            "W219",
            f"the stream '{stream.array}' of {stream.depth} words could stop the processes",
            span=step.span,
            notes=[why],
            help=f'stream("{stream.array}", depth={needed}) has room for all that is written',
        )
        self.needed = needed


def check_streams(
    state: ScheduledScop,
    found: tuple[Channel, ...],
    step: Step,
    known: frozenset[Stream] = frozenset(),
) -> None:
    """Every stream of the state is one, and no depth can stop the processes.

    Args:
        state: with processes.
        found: its channels.
        step: what is refused.
        known: streams whose order has been checked.

    Raises:
        ScheduleError: W220 it is no channel; W215 its memory is no FIFO; W218 (as `NotAStream`);
            W219 (as `Deadlock`).
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
    for stream in state.streams:
        _check_cycle(state, by_array[stream.array], found, stream, step)


def words_a_memory(state: ScheduledScop, array: Array) -> int:
    """The elements of the largest memory of an array under the partitions of the state."""
    words = 1
    for k, extent in enumerate(array.shape):
        words *= -(-extent // _factor(state, array, k)[1])
    return words


def _factor(state: ScheduledScop, array: Array, dim: int) -> tuple[str, int]:
    for p in state.partitions:
        if p.array == array.name and p.dim == dim:
            return p.scheme, p.factor or array.shape[dim]
    return "cyclic", 1


# -------------------------------------------------------------------------------------- the order


def _check_stream(state: ScheduledScop, channel: Channel, stream: Stream, step: Step) -> None:
    name = channel.array
    array = state.scop.program.array(name)
    pieces = process_pieces(state)
    producers = [p for p in pieces[channel.producer] if p.statement.stmt.target.array == name]
    own = [p for p in pieces[channel.producer] if any(a.array == name for a in p.statement.reads)]
    if own:
        raise NotAStream(step, name, _read_back(state, own[0], array))
    consumers = [p for p in pieces[channel.consumer] if _count(p, name)]
    written, read = _write_times(state, producers), _read_times(state, consumers, name)
    _check_once(step, array, written, "written")
    _check_once(step, array, read, "read")
    for points, fault in (
        (written.domain().subtract(read.domain()), "written but never read"),
        (read.domain().subtract(written.domain()), "read but not written"),
    ):
        if not points.is_empty():
            raise NotAStream(step, name, CountWitness(name, _sample(points, array), fault))
    whole = read.dim(isl.dim_type.out) - 1
    at = read.project_out(isl.dim_type.out, whole, 1)
    before = written.lex_lt_map(written)
    within = before.intersect(at.lex_ge_map(at)).intersect(_same_memory(state, array))
    if not within.is_empty():
        raise NotAStream(step, name, _witness(within, array))
    needed = words_a_memory(state, array)
    if stream.depth >= needed or not any(p.array == name for p in state.partitions):
        return
    swapped = before.intersect(at.lex_gt_map(at))
    if not swapped.is_empty():
        raise Deadlock(step, stream, needed, f"{_witness(swapped, array)}, in another memory")


def _count(piece: Piece, array: str) -> int:
    return sum(a.array == array for a in loads(piece.statement.stmt.value))


def _read_back(state: ScheduledScop, piece: Piece, array: Array) -> CountWitness:
    access = next(a for a in piece.statement.reads if a.array == array.name)
    points = piece.times.domain().apply(state.scop.access_map(piece.statement, access))
    fault = f"read by the process that writes it: {piece.name}"
    return CountWitness(array.name, _sample(points, array), fault)


def _write_times(state: ScheduledScop, pieces: list[Piece]) -> isl.Map:
    """Element to the times at which it is written."""
    length = max(len(p.dims) for p in pieces)
    maps = (
        state.scop.access_map(p.statement, p.statement.stmt.target)
        .reverse()
        .apply_range(p.instants(length))
        for p in pieces
    )
    return _union(list(maps))


def _read_times(state: ScheduledScop, pieces: list[Piece], array: str) -> isl.Map:
    """Element to the times at which it is read; what one statement reads has one time but for the
    last entry, because nothing says which of its reads is first.
    """
    length = max(len(p.dims) for p in pieces)
    maps = (
        state.scop.access_map(p.statement, access).reverse().apply_range(p.instants(length, n))
        for p in pieces
        for n, access in enumerate(loads(p.statement.stmt.value))
        if access.array == array
    )
    return _union(list(maps))


def _union(maps: list[isl.Map]) -> isl.Map:
    found = maps[0]
    for m in maps[1:]:
        found = found.union(m)
    return found.coalesce() if len(maps) > 1 else found


def _check_once(step: Step, array: Array, times: isl.Map, what: str) -> None:
    if times.is_single_valued():
        return
    space = times.get_space().domain().map_from_set()
    twice = times.lex_lt_map(times).intersect(isl.Map.identity(space))
    witness = CountWitness(array.name, _sample(twice.domain(), array), f"{what} more than once")
    raise NotAStream(step, array.name, witness)


def _same_memory(state: ScheduledScop, array: Array) -> isl.Map:
    """Pairs of elements that lie in one memory."""
    depth = array.scope_depth
    x, y = dims(depth + len(array.shape), "x"), dims(depth + len(array.shape), "y")
    same: list[str] = []
    for k, extent in enumerate(array.shape):
        a, b = x[depth + k], y[depth + k]
        scheme, factor = _factor(state, array, k)
        match scheme:
            case "complete":
                same.append(f"{a} = {b}")
            case "block":
                size = -(-extent // factor)
                same.append(f"floor({a}/{size}) = floor({b}/{size})")
            case _ if factor > 1:
                same.append(f"({a} - {b}) mod {factor} = 0")
    tuple_name = f"a{state.scop.array_index[array.name]}"
    text = (
        f"{{ {tuple_name}[{', '.join(x)}] -> {tuple_name}[{', '.join(y)}] : {conjunction(same)} }}"
    )
    return map_of(text)


def _sample(points: isl.Set, array: Array) -> Element:
    point = points.sample_point()
    return tuple(
        point.get_coordinate_val(isl.dim_type.set, array.scope_depth + k).to_python()
        for k in range(len(array.shape))
    )


def _witness(pairs: isl.Map, array: Array) -> OrderWitness:
    point = pairs.wrap().sample_point()
    depth, rank = array.scope_depth, len(array.shape)
    values = [
        point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(2 * (depth + rank))
    ]
    half = depth + rank
    return OrderWitness(array.name, tuple(values[depth:half]), tuple(values[half + depth :]))


# ----------------------------------------------------------------------------------------- depths


def _check_cycle(
    state: ScheduledScop, channel: Channel, found: tuple[Channel, ...], stream: Stream, step: Step
) -> None:
    """A full FIFO makes its producer wait for its consumer. That must not, over other channels,
    wait for the producer: a consumer waits for what its channels bring, and the producer of
    another shallow FIFO for its consumer.
    """
    needed = words_a_memory(state, state.scop.program.array(stream.array))
    if stream.depth >= needed:
        return
    shallow = {
        s.array
        for s in state.streams
        if s.depth < words_a_memory(state, state.scop.program.array(s.array))
    }
    waits: dict[int, list[tuple[int, str]]] = {}
    for c in found:
        if c.array != channel.array:
            waits.setdefault(c.consumer, []).append((c.producer, c.array))
            if c.array in shallow:
                waits.setdefault(c.producer, []).append((c.consumer, c.array))
    path = _path(waits, channel.consumer, channel.producer)
    if path is not None:
        over = " and ".join(f"'{name}'" for name in path)
        why = (
            f"process {channel.producer} waits for process {channel.consumer} while it is full, "
            f"and process {channel.consumer} may wait for process {channel.producer} through {over}"
        )
        raise Deadlock(step, stream, needed, why)


def _path(waits: dict[int, list[tuple[int, str]]], start: int, goal: int) -> list[str] | None:
    """The arrays on a shortest way from one process to another; None where there is none."""
    seen, queue = {start}, [(start, list[str]())]
    for at, way in queue:
        if at == goal:
            return way
        for further, array in waits.get(at, ()):
            if further not in seen:
                seen.add(further)
                queue.append((further, [*way, array]))
    return None
