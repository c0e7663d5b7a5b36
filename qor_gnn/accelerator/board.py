"""Time to solution on a board: the kernel with the board's memory and clock, transfers of the host, and its launch.

The design is scheduled as for csynth, with ports that wait as the board's memory makes them: its first word comes after
the latency of the memory, and then a word every so many cycles as the slowest of three lets pass, the port (a word a cycle), the
channel (GB/s, shared by the ports that are connected to it and pass at the same time), and what is on its way (bytes of outstanding bursts in the time that
memory takes to answer). Each is a range (`backends.deploy.memories`), and so is all that follows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backends.deploy.boards import Board
from qor_gnn.accelerator.at_once import AtOnce, at_once
from qor_gnn.accelerator.channels import ChannelUse, by_channel, bytes_of, channel_of, crowded
from qor_gnn.accelerator.interval import Interval
from qor_gnn.accelerator.service import Service, served
from qor_gnn.design.port import Port
from qor_gnn.design.region import Kernel, Memory
from qor_gnn.estimate import brief
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.alike import Alike
from qor_gnn.schedule.traffic import Traffic, stored_bytes
from qor_gnn.tools.personality import Personality


@dataclass(frozen=True, slots=True)
class BoardTime:
    """A call of a kernel on a board.

    Attributes:
        board: its name.
        period_ns: of the clock that is reached.
        cycles: of the kernel, with the board's memory, at the clock that is expected.
        kernel_ms: these cycles at that clock; at either end with the clock and the memory of that end.
        transfer_ms: what the host passes before and after.
        launch_ms: what a call takes beside both.
        memory_ms: what the busiest channel takes for its bytes alone.
        compute_ms: csynth's cycles at that clock: the kernel with memory that is always ready.
        channels: the busiest first.
        notes: what would help.
    """

    board: str
    period_ns: Interval
    cycles: float
    kernel_ms: Interval
    transfer_ms: Interval
    launch_ms: Interval
    memory_ms: float
    compute_ms: float
    channels: tuple[ChannelUse, ...]
    notes: tuple[str, ...]

    @property
    def total_ms(self) -> Interval:
        """Time to solution."""
        return self.kernel_ms + self.transfer_ms + self.launch_ms


@dataclass(frozen=True, slots=True)
class Design:
    """What is run: a design as the model reads it, its csynth view, and what it was scheduled for.

    Attributes:
        kernel: the region tree.
        answer: csynth's view of it.
        tool: that is modelled.
        kept: as `qor_gnn.estimate.estimate` has it.
        known: its scopes, whose bodies are used again.
    """

    kernel: Kernel
    answer: QorEstimate
    tool: Personality
    kept: frozenset[str]
    known: Alike = field(default_factory=Alike, compare=False)


def on_board(design: Design, board: Board, period_ns: Interval, passed: Sequence[str]) -> BoardTime:
    """What a call takes.

    Args:
        design: with arrays in memory outside.
        board: with that memory.
        period_ns: of the clock that is reached.
        passed: arrays that the host passes: arguments, no scratch.
    """
    periods = (period_ns.low, period_ns.value, period_ns.high)
    cycles = [_cycles(design, board, period, end) for end, period in enumerate(periods)]
    kernel = Interval(*(n * ns * 1e-6 for n, ns in zip(cycles, periods, strict=True)))
    traffic = design.answer.traffic
    channels = _channels(board, traffic, kernel.value)
    return BoardTime(
        board.name,
        period_ns,
        cycles[1],
        kernel,
        _transfers(design.kernel, traffic, board, passed),
        Interval(*board.host.launch),
        max((c.busy_ms for c in channels), default=0.0),
        design.answer.latency.average * period_ns.value * 1e-6,
        channels,
        crowded(board, traffic),
    )


def _cycles(design: Design, board: Board, period: float, end: int) -> float:
    """Cycles of the kernel at one end of the ranges: 0 the best of each, 1 what is expected, 2 the worst."""
    traffic: dict[tuple[str, str], Traffic] = {
        (t.array, t.direction): t for t in design.answer.traffic
    }
    groups = at_once(design.kernel)

    def service(memory: Memory, _: Port) -> Service:
        paces = [
            _pace(board, traffic, (memory.name, way), end, period, groups)
            for way in ("read", "write")
        ]
        return Service(math.ceil(board.memory.latency[end] / period), *paces)

    kernel = served(design.kernel, service)
    found = brief(kernel, design.tool, design.kept, design.known).cycles
    return max(found, _busy_ns(board, design.answer.traffic, end) / period)


def _pace(
    board: Board,
    traffic: Mapping[tuple[str, str], Traffic],
    key: tuple[str, str],
    end: int,
    period: float,
    groups: Sequence[AtOnce],
) -> float:
    """Cycles from a word of an array to the next in one direction, on average over the nests that it passes in."""
    one = traffic.get(key)
    if one is None:
        return 1.0
    # At best ports that share a channel are never at work at the same time.
    through = of_channel = 0.0 if end else 1.0
    for group in groups if end else ():
        if key in group.shares:
            beside = [
                (t, t.bytes * group.shares[at])
                for at, t in traffic.items()
                if at in group.shares and (group.overlap or t.direction == one.direction)
            ]
            own = one.bytes * group.shares[key]
            way = one.bundle, one.direction
            port = [size for t, size in beside if (t.bundle, t.direction) == way]
            channel = [size for t, size in beside if channel_of(board, t) == channel_of(board, one)]
            part = group.shares[key]
            through += part * _share(own, port)
            of_channel += part * _share(own, channel)
    # The best figure of a rate is its largest, that of a latency its smallest.
    rates = board.memory.read if one.direction == "read" else board.memory.write
    rate = rates[2 - end] / max(1.0, of_channel)
    on_the_way = one.in_flight / board.memory.latency[end]
    return max(through, one.word_bytes / (min(rate, on_the_way) * period))


def _share(own: float, others: Sequence[float]) -> float:
    """How many times as long so many bytes pass beside others, themselves among them, that take turns with them as long as
    they last.
    """
    return min(float(len(others)), sum(others) / own) if own else float(len(others))


def _busy_ns(board: Board, traffic: Sequence[Traffic], end: int) -> float:
    """The least time of the busiest channel."""
    times = [0.0]
    for passing in by_channel(board, traffic).values():
        read, written = bytes_of(passing)
        times.append(read / board.memory.read[2 - end] + written / board.memory.write[2 - end])
    return max(times)


def _channels(board: Board, traffic: Sequence[Traffic], kernel_ms: float) -> tuple[ChannelUse, ...]:
    found = []
    for name, passing in by_channel(board, traffic).items():
        read, written = bytes_of(passing)
        busy = _busy_ns(board, passing, 1) * 1e-6
        bundles = tuple(dict.fromkeys(one.bundle for one in passing))
        share = busy / kernel_ms if kernel_ms else 0.0
        found.append(ChannelUse(name, bundles, read, written, busy, share))
    return tuple(sorted(found, key=lambda c: (-c.busy_ms, c.channel)))


def _transfers(
    kernel: Kernel, traffic: Sequence[Traffic], board: Board, passed: Sequence[str]
) -> Interval:
    """Arrays that are read pass before the kernel, those that are written after it, each as a whole."""
    moved = {(one.array, one.direction) for one in traffic if one.array in passed}
    size = sum(stored_bytes(kernel.memory(array)) for array, _ in moved)
    least, value, most = board.host.gigabytes
    return Interval(size / most, size / value, size / least).scaled(1e-6)
