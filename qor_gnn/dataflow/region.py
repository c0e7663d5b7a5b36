"""A dataflow region in time: processes that wait for what their channels bring, or for room.

A process runs as it is scheduled, but stops whole where a FIFO that it reads is empty or one that it
writes is full. So its n-th access happens at its own time plus a delay that never shrinks; the least
delays that keep the rules of all channels are the solution:

- a word is read a cycle after it was written, or later;
- with a depth of d, word n is written after word n − d was read;
- a memory of two halves is there when its producer is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qor_gnn.dataflow.events import Fifo, Process, run_events
from qor_gnn.dataflow.tokens import SPREAD, Floats, Ints, Tokens, tokens
from qor_gnn.design.region import Channel, Kernel
from qor_gnn.schedule.regions import Region

_PASSES = 4  # over all processes at once, before words are looked at one by one
_SAME = 0.5


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """A process of a region.

    Attributes:
        name: its function.
        latency: cycles that it takes alone.
        start: when it begins: as late as lets it make its first access to a FIFO without waiting.
        end: when it is done; both in cycles from the start of the region.
        waited: cycles that it waits in all.
        waits_for: the channel that it waits for last, and ``""`` where it never waits.
    """

    name: str
    latency: float
    start: float
    end: float
    waited: float
    waits_for: str


@dataclass(frozen=True, slots=True)
class ChannelTime:
    """A channel: when its first and its last word are written; ``depth`` None is no FIFO."""

    memory: str
    producer: str
    consumer: str
    depth: int | None
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class RegionTime:
    """A dataflow region: ``interval`` is from one call to the next, both in cycles.

    A process is free for the next call when it is done: the interval is the longest time that one
    is at work, waiting in between included.
    """

    latency: float
    interval: float
    processes: tuple[ProcessTime, ...]
    channels: tuple[ChannelTime, ...]


def region_time(
    kernel: Kernel, functions: Sequence[Sequence[Region]], latencies: Sequence[float]
) -> RegionTime:
    """How long the region takes.

    Args:
        kernel: with its channels.
        functions: the scheduled regions of each process.
        latencies: of each process by itself.
    """
    processes = [Process(latency) for latency in latencies]
    found = {c.memory: _both_ends(kernel, c, functions) for c in kernel.channels if _is_fifo(c)}
    fifos = _placed(kernel.channels, found, processes)
    _settle(processes, fifos, [c for c in kernel.channels if not _is_fifo(c)])
    names = [f.name for f in kernel.functions]
    told = _processes(names, processes, fifos, kernel.channels)
    channels = tuple(_channel(names, c, processes, fifos) for c in kernel.channels)
    latency = max(p.end for p in processes) + 1
    interval = max(p.end - p.start for p in told) + 1
    return RegionTime(latency, interval, told, channels)


def _is_fifo(channel: Channel) -> bool:
    return channel.depth is not None


def _both_ends(
    kernel: Kernel, channel: Channel, functions: Sequence[Sequence[Region]]
) -> tuple[Tokens, Tokens]:
    """Writes and reads, word by word in the same order."""
    ends = []
    for number, write in ((channel.producer, True), (channel.consumer, False)):
        function = kernel.functions[number]
        ends.append(tokens(kernel, function, functions[number], channel.memory, write))
    writes, reads = ends
    if writes.exact and reads.exact and len(writes.element) == len(reads.element):
        by_write, by_read = np.argsort(writes.element), np.argsort(reads.element)
        if np.array_equal(writes.element[by_write], reads.element[by_read]):
            return _taken(writes, by_write), _taken(reads, by_read)
    return _spread(writes), _spread(reads)


def _taken(of: Tokens, order: npt.NDArray[np.intp]) -> Tokens:
    return Tokens(of.element[order], of.time[order], of.bank[order], of.exact)


def _spread(of: Tokens) -> Tokens:
    """As many words as the other side has, between the first and the last, in order of time."""
    ranks = np.arange(SPREAD)
    low, high = (of.time.min(), of.time.max()) if len(of.time) else (0.0, 0.0)
    return Tokens(ranks, np.linspace(low, high, SPREAD), np.zeros(SPREAD, np.int64), False)


def _placed(
    channels: Sequence[Channel],
    found: Mapping[str, tuple[Tokens, Tokens]],
    processes: list[Process],
) -> list[Fifo]:
    times: list[list[Floats]] = [[np.zeros(0)] for _ in processes]
    for c in channels:
        if c.memory in found:
            writes, reads = found[c.memory]
            times[c.producer].append(writes.time)
            times[c.consumer].append(reads.time)
    for process, own in zip(processes, times, strict=True):
        process.at = np.unique(np.concatenate(own))
        process.delay = np.zeros(len(process.at))
    fifos = []
    for c in channels:
        if c.memory in found:
            writes, reads = found[c.memory]
            write = np.searchsorted(processes[c.producer].at, writes.time)
            read = np.searchsorted(processes[c.consumer].at, reads.time)
            fifos.append(Fifo(c, write, read, _room(c, writes)))
    return fifos


def _room(channel: Channel, writes: Tokens) -> tuple[Ints, Ints]:
    """Words that have to be read before others can be written, and those others."""
    assert channel.depth is not None
    if not writes.exact:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.lexsort((writes.time, writes.bank))
    bank = writes.bank[order]
    if len(order) <= channel.depth:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    same = bank[channel.depth :] == bank[: -channel.depth]
    return order[: -channel.depth][same], order[channel.depth :][same]


def _settle(processes: list[Process], fifos: list[Fifo], halves: list[Channel]) -> None:
    """The least delays with which every channel's rule holds."""
    if not _grown(processes, fifos, halves):
        run_events(processes, fifos, halves)


def _grown(processes: list[Process], fifos: list[Fifo], halves: list[Channel]) -> bool:
    """Let delays grow, all words of a channel at once; False where few passes do not settle them,
    because processes wait for each other again and again.
    """
    for _ in range(_PASSES):
        before = [(p.start, p.delay.copy()) for p in processes]
        for number, process in enumerate(processes):
            for c in halves:
                if c.consumer == number:
                    process.start = max(process.start, processes[c.producer].end + 1)
            if not len(process.delay):
                continue
            np.maximum(process.delay, process.start, out=process.delay)
            for fifo in fifos:
                if fifo.channel.consumer == number:
                    _grow(process, fifo.read, _arrival(processes, fifo))
                if fifo.channel.producer == number and len(fifo.room[1]):
                    _grow(process, fifo.write[fifo.room[1]], _freed(processes, fifo))
            np.maximum.accumulate(process.delay, out=process.delay)
        settled = all(
            p.start - s < _SAME and (not len(d) or float((p.delay - d).max()) < _SAME)
            for p, (s, d) in zip(processes, before, strict=True)
        )
        if settled:
            return True
    return False


def _arrival(processes: Sequence[Process], fifo: Fifo) -> Floats:
    producer = processes[fifo.channel.producer]
    found: Floats = producer.at[fifo.write] + producer.delay[fifo.write] + 1
    return found


def _freed(processes: Sequence[Process], fifo: Fifo) -> Floats:
    consumer = processes[fifo.channel.consumer]
    reads = fifo.read[fifo.room[0]]
    found: Floats = consumer.at[reads] + consumer.delay[reads] + 1
    return found


def _grow(process: Process, events: Ints, earliest: Floats) -> None:
    """No event happens before its time."""
    np.maximum.at(process.delay, events, earliest - process.at[events])


# ------------------------------------------------------------------------------------ what is told


def _processes(
    names: Sequence[str],
    processes: Sequence[Process],
    fifos: Sequence[Fifo],
    channels: Sequence[Channel],
) -> tuple[ProcessTime, ...]:
    found = []
    for number, p in enumerate(processes):
        waited = p.end - p.latency
        start = p.start if not len(p.at) else float(p.delay[0])
        last = _last_wait(number, processes, fifos, channels) if waited >= _SAME else ""
        found.append(ProcessTime(names[number], p.latency, start, p.end, waited, last))
    return tuple(found)


def _last_wait(
    number: int,
    processes: Sequence[Process],
    fifos: Sequence[Fifo],
    channels: Sequence[Channel],
) -> str:
    """The channel that asks for the largest delay."""
    process = processes[number]
    asked = [
        (processes[c.producer].end + 1, c.memory)
        for c in channels
        if c.consumer == number and not _is_fifo(c)
    ]
    for fifo in fifos:
        if fifo.channel.consumer == number:
            own = _arrival(processes, fifo) - process.at[fifo.read]
            asked.append((float(own.max(initial=0.0)), fifo.channel.memory))
        if fifo.channel.producer == number and len(fifo.room[1]):
            own = _freed(processes, fifo) - process.at[fifo.write[fifo.room[1]]]
            asked.append((float(own.max(initial=0.0)), fifo.channel.memory))
    return max(asked, default=(0.0, ""))[1]


def _channel(
    names: Sequence[str], channel: Channel, processes: Sequence[Process], fifos: Sequence[Fifo]
) -> ChannelTime:
    producer = processes[channel.producer]
    first = last = producer.end
    for fifo in fifos:
        if fifo.channel is channel and len(fifo.write):
            when = producer.at[fifo.write] + producer.delay[fifo.write]
            first, last = float(when.min()), float(when.max())
    ends = names[channel.producer], names[channel.consumer]
    return ChannelTime(channel.memory, *ends, channel.depth, first, last)
