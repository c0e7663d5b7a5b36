"""Can processes wait for each other for ever? Exactly: they are run, as far as their FIFOs go.

A process does its accesses in the order of its schedule. It waits where one of the FIFOs that an
iteration reads is empty, and takes from all of them at once; and where one that it writes is full. It
begins when the memories that it reads have been
written, as the tool's channels of two halves have it. Processes are deterministic, so whether they
end does not depend on how fast each of them is (Kahn, The semantics of a simple language for
parallel programming, 1974; with bounded channels: Parks, Bounded scheduling of process networks,
1995). A FIFO that has room for all that is written never stops anybody.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import loads
from dsl.programs.program import Array
from dsl.schedules.steps import Dataflow, Stream
from polyhedral.banks.splits import splits_in
from polyhedral.dataflow.element_times import words_a_memory
from polyhedral.dataflow.processes import Channel, channels, process_pieces
from polyhedral.dataflow.streams import memories_cross
from polyhedral.isl.points import Column, points
from polyhedral.scop.scheduled import Piece, ScheduledScop

MOST = 1 << 18  # words that are followed through the processes


class Deadlock(ScheduleError):
    """W219: with FIFOs of so few words the processes wait for each other for ever."""

    def __init__(self, stream: Stream, waits: Sequence[str], help_: str) -> None:
        super().__init__(
            "W219",
            f"the stream '{stream.array}' of {stream.depth} words stops the processes",
            span=stream.span,
            notes=waits,
            help=help_,
        )
        self.array = stream.array


def check_depths(state: ScheduledScop, step: Dataflow) -> None:
    """Raise `Deadlock` if the processes do not run to their end with FIFOs of these depths."""
    found = channels(state, step)
    suspect = _suspect(state, found)
    if suspect is None:
        return
    network = _network(state, found)
    if network is None:
        room = _words(state, suspect)
        raise Deadlock(
            suspect,
            [f"whether they end is not known: more than {MOST} words would have to be followed"],
            f'stream("{suspect.array}", depth={room}) has room for all that is written',
        )
    depths = {s.array: s.depth for s in state.streams}
    stuck = _stuck(network, _run(network, depths), depths)
    if stuck is not None:
        full = stuck.full[0]
        words = {s.array: _words(state, s) for s in state.streams}
        stream = next(s for s in state.streams if s.array == full)
        raise Deadlock(stream, stuck.waits, _help(network, depths, words, full))


def needs_flushing(state: ScheduledScop) -> bool:
    """Whether the processes end only if each goes on with the iterations that it has begun.

    That is so where waits could close a cycle. A pipeline that stalls as a whole, as the tool's do by
    default, would then keep a word for which another process waits: it has to be one that flushes.
    """
    return (
        state.dataflow is not None and _suspect(state, channels(state, state.dataflow)) is not None
    )


def _words(state: ScheduledScop, stream: Stream) -> int:
    return words_a_memory(state, state.scop.program.array(stream.array))


# ---------------------------------------------------------------------- which need to be looked at


def _suspect(state: ScheduledScop, found: tuple[Channel, ...]) -> Stream | None:
    """A stream that can fill while its consumer waits for its producer over another channel.

    Without one there is no cycle of waits at all, whatever the order of accesses.
    """
    shallow = {s.array for s in state.streams if s.depth < _words(state, s)}
    by_array = {c.array: c for c in found}
    for stream in state.streams:
        if stream.array not in shallow:
            continue
        if memories_cross(state, by_array[stream.array]):
            return stream  # its memories are channels side by side
        channel = by_array[stream.array]
        import networkx as nx  # here: few designs need it

        waits: nx.DiGraph[int] = nx.DiGraph()
        waits.add_nodes_from((channel.consumer, channel.producer))
        for c in found:
            if c.array != stream.array:
                waits.add_edge(c.consumer, c.producer)
                if c.array in shallow:
                    waits.add_edge(c.producer, c.consumer)
        if nx.has_path(waits, channel.consumer, channel.producer):
            return stream
    return None


# ------------------------------------------------------------------------------------ the accesses

Fifo = tuple[str, int]  # an array and the number of the memory


@dataclass(frozen=True, slots=True)
class _Process:
    """Accesses of FIFOs, in steps: what an iteration reads is one, what it writes is the next.

    ``at``: per FIFO, the steps that access it, in order. ``elements``: which element of its array
    each of these accesses is of. ``memories``: the processes that have to end before this one
    begins, with an array that says why.
    """

    steps: int
    at: dict[Fifo, list[int]]
    elements: dict[Fifo, list[int]]
    memories: dict[int, str]


@dataclass(frozen=True, slots=True)
class _Network:
    processes: list[_Process]
    ends: dict[str, Channel]
    shapes: dict[str, tuple[int, ...]]


def _network(state: ScheduledScop, found: tuple[Channel, ...]) -> _Network | None:
    """What each process does to the streams; None where that is too much."""
    streams = {s.array for s in state.streams}
    arrays = {name: state.scop.program.array(name) for name in streams}
    if sum(2 * prod(a.shape) for a in arrays.values()) > MOST:
        return None
    processes: list[_Process] = []
    for n, pieces in enumerate(process_pieces(state)):
        memories = {
            c.producer: c.array for c in found if c.consumer == n and c.array not in streams
        }
        accesses = _accesses(state, pieces, arrays)
        if accesses is None:
            return None
        processes.append(_process(accesses, memories))
    ends = {c.array: c for c in found if c.array in streams}
    return _Network(processes, ends, {name: a.shape for name, a in arrays.items()})


@dataclass(frozen=True, slots=True)
class _Accesses:
    """What one access of one piece does, iteration by iteration."""

    array: str
    times: npt.NDArray[np.int64]  # rows: iterations; columns: time
    memory: Column
    element: Column


def _accesses(
    state: ScheduledScop, pieces: list[Piece], arrays: dict[str, Array]
) -> list[_Accesses] | None:
    """The accesses of a process in no order; None where the loops are too large to be tried."""
    length = max(len(p.dims) for p in pieces)
    found: list[_Accesses] = []
    for piece in pieces:
        stmt = piece.statement.stmt
        own = [a for a in (*loads(stmt.value), stmt.target) if a.array in arrays]
        if not own:
            continue
        columns = points(piece.domain, 4 * MOST)
        if columns is None:
            return None
        size = len(columns[0]) if columns else 1
        loops = dict(zip(piece.names, columns, strict=True))
        variables = {v: _values(e, loops, size) for v, e in piece.bindings}
        time = _time(piece, columns, length, size)
        for access in own:
            array = arrays[access.array]
            subscripts = [_values(e, variables, size) for e in access.indices]
            last = np.full((size, 1), access is stmt.target, dtype=np.int64)
            element = np.ravel_multi_index(tuple(subscripts), array.shape).astype(np.int64)
            found.append(
                _Accesses(
                    access.array,
                    np.concatenate([time, last], axis=1),
                    _memory(state, array, subscripts),
                    element,
                )
            )
    return found


def _time(piece: Piece, columns: list[Column], length: int, size: int) -> npt.NDArray[np.int64]:
    """``[place0, loop0, place1, …]`` of each iteration, as `Piece.instants` has it."""
    zero = np.zeros(size, dtype=np.int64)
    time: list[Column] = []
    for k in range(length + 1):
        time.append(zero + (piece.place[k] if k < len(piece.place) else 0))
        if k < length:
            time.append(columns[k] if k < len(columns) else zero)
    return np.stack(time, axis=1)


def _values(affine: Affine, columns: dict[str, Column], size: int) -> Column:
    """The value of an expression in every iteration."""
    total = np.full(size, affine.const, dtype=np.int64)
    for atom, c in affine.terms:
        if isinstance(atom, str):
            total += c * columns[atom]
        else:
            total += c * (_values(atom.numerator, columns, size) // atom.denominator)
    return total


def _memory(state: ScheduledScop, array: Array, subscripts: list[Column]) -> Column:
    """In which memory each element lies."""
    number = np.zeros_like(subscripts[0])
    splits = splits_in(array.name, array.shape, state.partitions)
    for x, split, extent in zip(subscripts, splits, array.shape, strict=True):
        number = number * split.factor + split.bank(x, extent)
    return number


def _process(accesses: list[_Accesses], memories: dict[int, str]) -> _Process:
    if not accesses:
        return _Process(0, {}, {}, memories)
    times = np.concatenate([a.times for a in accesses])
    order = np.lexsort(times.T[::-1])
    changes = (np.diff(times[order], axis=0) != 0).any(axis=1)
    steps = np.concatenate([[0], np.cumsum(changes)]).tolist()
    names = list(dict.fromkeys(a.array for a in accesses))
    arrays = np.concatenate([np.full(len(a.memory), names.index(a.array)) for a in accesses])
    numbers = np.concatenate([a.memory for a in accesses])[order].tolist()
    elements = np.concatenate([a.element for a in accesses])[order].tolist()
    at: dict[Fifo, list[int]] = {}
    of: dict[Fifo, list[int]] = {}
    for step, array, number, element in zip(
        steps, arrays[order].tolist(), numbers, elements, strict=True
    ):
        at.setdefault((names[array], number), []).append(step)
        of.setdefault((names[array], number), []).append(element)
    return _Process(steps[-1] + 1, at, of, memories)


# ------------------------------------------------------------------------------------- the running


@dataclass(frozen=True, slots=True)
class _State:
    """How many steps each process has done, and which have ended."""

    done: list[int]
    ended: list[bool]


def _run(network: _Network, depths: dict[str, int]) -> _State:
    """All processes, as far as they come."""
    count = len(network.processes)
    state = _State([0] * count, [False] * count)
    beside = [_beside(network, n) for n in range(count)]
    waiting = dict.fromkeys(range(count))
    while waiting:
        n = next(iter(waiting))
        del waiting[n]
        if not _begun(network, state, n):
            continue
        reach = min((limit for limit, _ in _limits(network, state, depths, n)), default=0)
        ended = reach == network.processes[n].steps
        if reach > state.done[n] or ended != state.ended[n]:
            state.done[n], state.ended[n] = reach, ended
            waiting |= beside[n]
    return state


def _beside(network: _Network, n: int) -> dict[int, None]:
    """The processes that may go on when this one has."""
    found = [c.consumer for c in network.ends.values() if c.producer == n]
    found += [c.producer for c in network.ends.values() if c.consumer == n]
    found += [m for m, p in enumerate(network.processes) if n in p.memories]
    return dict.fromkeys(found)


def _begun(network: _Network, state: _State, n: int) -> bool:
    return all(state.ended[m] for m in network.processes[n].memories)


def _limits(
    network: _Network, state: _State, depths: dict[str, int], n: int
) -> Iterator[tuple[int, Fifo | None]]:
    """How far each FIFO lets a process come: up to its first access that has to wait."""
    process = network.processes[n]
    yield process.steps, None
    for fifo, positions in process.at.items():
        channel = network.ends[fifo[0]]
        writes = channel.producer == n
        other = channel.consumer if writes else channel.producer
        theirs = bisect_left(network.processes[other].at[fifo], state.done[other])
        mine = theirs + depths[fifo[0]] if writes else theirs
        if mine < len(positions):
            yield positions[mine], fifo


# ------------------------------------------------------------------------------------- the witness


@dataclass(frozen=True, slots=True)
class _Stuck:
    """A cycle of processes of which each waits for the next, and the streams in it that are full."""

    waits: tuple[str, ...]
    full: tuple[str, ...]


def _stuck(network: _Network, state: _State, depths: dict[str, int]) -> _Stuck | None:
    if all(state.ended):
        return None
    at = state.ended.index(False)
    seen: list[int] = []
    told: list[tuple[str, str | None]] = []
    while at not in seen:
        seen.append(at)
        text, full, at = _wait(network, state, depths, at)
        told.append((text, full))
    cycle = told[seen.index(at) :]
    return _Stuck(tuple(text for text, _ in cycle), tuple(f for _, f in cycle if f is not None))


def _wait(
    network: _Network, state: _State, depths: dict[str, int], n: int
) -> tuple[str, str | None, int]:
    """What a process waits for, the stream if it is full, and the process that it waits for."""
    process = network.processes[n]
    for m, array in process.memories.items():
        if not state.ended[m]:
            return f"process {n} begins when process {m} has written all of '{array}'", None, m
    limits = _limits(network, state, depths, n)
    step, fifo = min(limits, key=lambda limit: limit[0])
    assert fifo is not None, "a process that has not ended waits for something"
    array = fifo[0]
    channel = network.ends[array]
    number = process.elements[fifo][bisect_left(process.at[fifo], step)]
    subscripts = np.unravel_index(number, network.shapes[array])
    element = f"{array}[{', '.join(str(int(x)) for x in subscripts)}]"
    if channel.producer == n:
        text = f"process {n} waits for room for {element} until process {channel.consumer} reads"
        return text, array, channel.consumer
    text = f"process {n} waits for {element} until process {channel.producer} writes it"
    return text, None, channel.producer


def _help(network: _Network, depths: dict[str, int], words: dict[str, int], first: str) -> str:
    """Depths with which the processes end: the least of one stream, or room for all of several."""
    raised = dict(depths)
    larger: list[str] = []
    full: str | None = first
    while full is not None:
        larger.append(full)
        raised[full] = words[full]
        stuck = _stuck(network, _run(network, raised), raised)
        full = None if stuck is None else next(f for f in stuck.full if f not in larger)
    if len(larger) > 1:
        listed = " and ".join(f'stream("{name}", depth={words[name]})' for name in larger)
        return f"{listed} have room for all that is written"
    low, high = depths[first], words[first]  # too few, enough
    while high - low > 1:
        middle = (low + high) // 2
        enough = all(_run(network, {**depths, first: middle}).ended)
        low, high = (low, middle) if enough else (middle, high)
    return f'stream("{first}", depth={high}) is enough'
