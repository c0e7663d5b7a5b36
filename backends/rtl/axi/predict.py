"""Cycles of a kernel behind AXI whose memory answers after so many cycles, and is always ready: from its schedule.

The kernel's accesses are known, address by address and cycle by cycle, as they do not depend on data. It stands still as a
whole, so that all that memory does to it is a delay that never shrinks: until a beat that it asked for is there. Beats of an
array are asked for in bursts, ahead of the kernel, once it begins their region, or on demand (`backends.rtl.axi.ahead`); what
is written goes to memory in bursts that are full, that nothing follows, or that a reader or the end waits for.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from backends.rtl.axi.accesses import Access, places
from backends.rtl.axi.ahead import Order, ahead_of
from backends.rtl.axi.ports import Outside, Port
from backends.rtl.axi.wrapper import AxiDesign
from backends.rtl.graph import Kind

_START = 3
"""Cycles from the start that the host writes to the first one of the kernel."""
_ASK = 4
"""Cycles from a burst being closed to its request on the port."""
_TAKE = 2
"""Cycles from a beat on the port to the word in the kernel."""
_PATIENCE = 4, 16
"""Cycles after which a burst that is read, and one that is written, does not wait for another beat."""
_GIVE = 5
"""Cycles from a burst that is written being closed to its first beat on the port."""
_ANSWER = 3
"""Cycles from an answer on the port to what waits for it."""
_END = 3
"""Cycles from the last answer to ``done``."""
MOST = 500_000
"""Accesses to memory outside that are looked at."""


@dataclass(slots=True)
class _Burst:
    """Beats that are asked for at once: how many, and the addresses that the machine ahead passes until they are closed."""

    beats: int
    passes: int


@dataclass(slots=True)
class _Reader:
    """An array that is read.

    Attributes:
        order: when its beats are asked for.
        port: behind which it is.
        bursts: in their order, from `_bursts`; of what is read on demand there are none.
        last: the beat that the kernel has; -1 for none.
        asked: when the machine ahead is at the end of the last burst.
        arrived: of beats that were asked for, in their order.
        popped: when the kernel took each.
        began: the burst that the next beat is the first one of.
    """

    order: Order
    port: Port
    bursts: list[_Burst] = field(default_factory=list)
    last: int = -1
    asked: float = 0.0
    arrived: list[float] = field(default_factory=list)
    popped: list[float] = field(default_factory=list)
    began: int = 0


@dataclass(slots=True)
class _Writer:
    """An array that is written: the burst that is being gathered, and when the last one before was answered."""

    port: Port
    beats: int = 0
    beat: int = -1
    at: float = 0.0
    answered: float = 0.0


class _Run:
    """A run in the making; ``late`` is by how much the kernel has stood still."""

    def __init__(self, design: AxiDesign, latency: int) -> None:
        self.latency = latency
        self.late = float(_START)
        self.arrays: dict[str, tuple[Outside, Port]] = {
            a.name: (a, port) for port, _ in design.ports for a in port.arrays
        }
        self.readers = {
            name: _Reader(order, self.arrays[name][1]) for name, order in design.orders.items()
        }
        self.writers = {name: _Writer(port) for name, (_, port) in self.arrays.items()}
        self.free: dict[tuple[str, bool], float] = defaultdict(float)
        self.over: dict[tuple[str, bool], list[float]] = defaultdict(list)

    def begin(self, array: str, at: int) -> None:
        """The kernel begins a region that reads an array in turn."""
        reader = self.readers[array]
        now = at + self.late
        reader.asked = max(reader.asked, now, self.in_memory(array, now))
        reader.last = -1

    def read(self, array: str, at: int, word: int) -> None:
        """The kernel wants a word."""
        reader, beat = self.readers[array], self.beat(array, word)
        if beat == reader.last:
            return
        reader.last = beat
        number = len(reader.popped)
        if reader.order is Order.ON_DEMAND:
            now = at + self.late
            self._arrive(reader, max(now, self.in_memory(array, now)), 1)
        elif number == len(reader.arrived):
            self._ask(reader, number)
        self.late = max(self.late, reader.arrived[number] + _TAKE - at)
        reader.popped.append(at + self.late)

    def _ask(self, reader: _Reader, number: int) -> None:
        """The next burst of what is read ahead."""
        burst = reader.bursts[reader.began]
        reader.began += 1
        asked = reader.asked + burst.passes
        room = number + burst.beats - reader.port.fifo
        if room > 0:
            asked = max(asked, reader.popped[min(room, number) - 1])
        reader.asked = asked
        self._arrive(reader, asked, burst.beats)

    def _arrive(self, reader: _Reader, asked: float, beats: int) -> None:
        key = reader.port.bundle, False
        asked = max(asked + _ASK, self._may(reader.port, write=False))
        for _ in range(beats):
            self.free[key] = max(self.free[key] + 1, asked + self.latency)
            reader.arrived.append(self.free[key])
        self.over[key].append(self.free[key])

    def write(self, array: str, at: int, word: int) -> None:
        """The kernel writes a word."""
        writer, beat = self.writers[array], self.beat(array, word)
        now = at + self.late
        reader = self.readers.get(array)
        if reader is not None and reader.order is Order.ON_DEMAND:
            reader.last = -1
        if beat == writer.beat and writer.beats:
            writer.at = now
            return
        waited = now - writer.at > _PATIENCE[1]
        if writer.beats == writer.port.burst or waited or beat != writer.beat + 1:
            self._send(writer, min(now, writer.at + _PATIENCE[1]))
        writer.beats, writer.beat, writer.at = writer.beats + 1, beat, now

    def in_memory(self, array: str, now: float) -> float:
        """When all that was written of an array is in memory, if somebody waits for it from now on."""
        writer = self.writers[array]
        self._send(writer, max(writer.at, min(now, writer.at + _PATIENCE[1])))
        return writer.answered

    def _send(self, writer: _Writer, closed: float) -> None:
        if writer.beats:
            key = writer.port.bundle, True
            begins = max(self.free[key], closed + _GIVE, self._may(writer.port, write=True))
            self.free[key] = begins + writer.beats
            self.over[key].append(self.free[key] + self.latency)
            writer.answered = self.free[key] + self.latency + _ANSWER
            writer.beats = 0
            self.late = max(self.late, self.late + self.free[key] - closed - writer.port.fifo)

    def _may(self, port: Port, *, write: bool) -> float:
        """When the next burst of a port may be asked for: one of those on their way is over."""
        over = self.over[port.bundle, write]
        return over[-port.outstanding] + 1 if len(over) >= port.outstanding else 0.0

    def beat(self, array: str, word: int) -> int:
        """The beat that a word is in."""
        held, port = self.arrays[array]
        return word // (port.width // held.unit)


def memory_cycles(design: AxiDesign, latency: int) -> int | None:
    """Cycles from the start that the host writes to ``done``.

    Args:
        design: behind AXI.
        latency: cycles from a request to its first beat, and from a last beat to its answer.

    Returns:
        None where there are more accesses than are looked at.
    """
    run, kernel = _Run(design, latency), design.kernel
    turns = {
        array: ahead_of(kernel.scheduled, array).kernel
        for array, order in design.orders.items()
        if order is Order.IN_TURN
    }
    found: list[tuple[int, int, list[Access]]] = []
    seen = 0
    for at, region, accesses in places(kernel.scheduled, set(run.arrays)):
        seen += len(accesses)
        if seen > MOST:
            return None
        found.append((at, region, accesses))
    for array, reader in run.readers.items():
        if reader.order is not Order.ON_DEMAND:
            reader.bursts = _bursts(run, array, found, turns.get(array, frozenset()))
    for at, region, accesses in found:
        for array, regions in turns.items():
            if region in regions:
                run.begin(array, at)
        for when, op, word in accesses:
            assert op.place is not None
            if op.kind is Kind.STORE:
                run.write(op.place.array, when, word)
            elif 0 <= word < run.arrays[op.place.array][0].words:
                run.read(op.place.array, when, word)
    end = kernel.cycles + run.late
    return round(max(end, *(run.in_memory(array, end) for array in run.writers))) + _END


def _bursts(
    run: _Run, array: str, found: list[tuple[int, int, list[Access]]], turns: frozenset[int]
) -> list[_Burst]:
    """What the machine ahead makes of the addresses of an array: one in a cycle. The first beat goes alone."""
    held, port = run.arrays[array]
    bursts: list[_Burst] = []
    last, since, alone = -1, 0, True
    for _, region, accesses in found:
        if region in turns:
            last, alone = -1, True
        for _, op, word in accesses:
            if op.place is None or op.place.array != array or op.kind is Kind.STORE:
                continue
            since += 1
            if not 0 <= word < held.words or (beat := run.beat(array, word)) == last:
                continue
            joins = beat == last + 1 and since <= _PATIENCE[0] and bursts
            if joins and not alone and bursts[-1].beats < port.burst:
                bursts[-1].beats += 1
                bursts[-1].passes += since
            else:
                bursts.append(_Burst(1, since))
                alone = alone and last < 0
            last, since = beat, 0
    return bursts
