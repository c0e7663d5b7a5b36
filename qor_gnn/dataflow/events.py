"""Processes event by event: each happens when what it waits for has happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from qor_gnn.dataflow.tokens import Floats, Ints
from qor_gnn.design.region import Channel


@dataclass(slots=True)
class Process:
    """Own times of its events, in order, and how much later each one happens."""

    latency: float
    at: Floats = field(default_factory=lambda: np.zeros(0))
    delay: Floats = field(default_factory=lambda: np.zeros(0))
    start: float = 0.0

    @property
    def end(self) -> float:
        return self.latency + (float(self.delay[-1]) if len(self.delay) else self.start)


@dataclass(slots=True)
class Fifo:
    """The words of a FIFO, each by the numbers of the events that write and read it.

    ``room`` pairs the word that frees a place with the one that takes it, in each bank.
    """

    channel: Channel
    write: Ints
    read: Ints
    room: tuple[Ints, Ints]


@dataclass(slots=True)
class _Waiting:
    """For event ``e`` of a process the events ``others[first[e]:first[e + 1]]`` of ``processes``."""

    first: list[int]
    processes: list[int]
    others: list[int]


def run_events(
    processes: Sequence[Process], fifos: Sequence[Fifo], halves: Sequence[Channel]
) -> None:
    """Set the delays of all processes.

    Where all wait (a FIFO is too small for what a pipeline has under way) the first of them goes on
    as if there were room: what a region that stops would take is no number.
    """
    waiting = [_waiting(n, p, fifos) for n, p in enumerate(processes)]
    own = [p.at.tolist() for p in processes]
    times: list[list[float]] = [[] for _ in processes]
    before = [[c.producer for c in halves if c.consumer == n] for n in range(len(processes))]
    forced = False
    while any(len(t) < len(at) for t, at in zip(times, own, strict=True)):
        moved = False
        for n, process in enumerate(processes):
            if len(times[n]) == len(own[n]):
                continue
            if any(len(times[k]) < len(own[k]) for k in before[n]):
                continue
            if not times[n]:
                ends = (_end(processes[k], own[k], times[k]) for k in before[n])
                process.start = max((e + 1 for e in ends), default=0.0)
            moved |= _advance(n, process.start, waiting[n], own, times, forced)
            forced = forced and not moved
        forced = not moved
    for process, at, found in zip(processes, own, times, strict=True):
        process.delay = np.array(found) - np.array(at)
    for n, process in enumerate(processes):
        if not own[n]:
            process.start = max((processes[k].end + 1 for k in before[n]), default=0.0)


def _end(process: Process, at: Sequence[float], times: Sequence[float]) -> float:
    return process.latency + (times[-1] - at[-1] if times else process.start)


def _waiting(number: int, process: Process, fifos: Sequence[Fifo]) -> _Waiting:
    events, others, whose = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], []
    for fifo in fifos:
        channel = fifo.channel
        if channel.consumer == number:
            events.append(fifo.read)
            others.append(fifo.write)
            whose += [channel.producer] * len(fifo.read)
        if channel.producer == number:
            freed, taken = fifo.room
            events.append(fifo.write[taken])
            others.append(fifo.read[freed])
            whose += [channel.consumer] * len(taken)
    event, other = np.concatenate(events), np.concatenate(others)
    order = np.argsort(event, kind="stable")
    first = np.searchsorted(event[order], np.arange(len(process.at) + 1))
    producers = np.array(whose, np.int64)[order]
    return _Waiting(first.tolist(), producers.tolist(), other[order].tolist())


def _advance(
    number: int,
    start: float,
    waiting: _Waiting,
    own: Sequence[Sequence[float]],
    times: Sequence[list[float]],
    forced: bool,
) -> bool:
    """Let a process go on as far as it can; whether it went anywhere."""
    at, done = own[number], times[number]
    delay = done[-1] - at[len(done) - 1] if done else start
    first = len(done)
    for event in range(first, len(at)):
        when = at[event] + delay
        for k in range(waiting.first[event], waiting.first[event + 1]):
            there = times[waiting.processes[k]]
            other = waiting.others[k]
            if other < len(there):
                when = max(when, there[other] + 1)
            elif not (forced and event == first):
                return event > first
        delay = when - at[event]
        done.append(when)
    return True
