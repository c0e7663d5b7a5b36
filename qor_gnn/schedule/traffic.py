"""What a scheduled design moves to and from memory outside: words and bursts, from its regions.

A region reads and writes its words in each iteration (`qor_gnn.schedule.outside.words_of`). It is a burst of each array
that it goes along without a gap, each time that it is entered; elsewhere each word is a request of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from polyhedral.requests.outside import word_bits
from qor_gnn.design.port import Port
from qor_gnn.design.region import Kernel, Memory, accesses_in, trips_of
from qor_gnn.memory.bursts import word_steps
from qor_gnn.schedule.outside import words_of
from qor_gnn.schedule.regions import Region


@dataclass(frozen=True, slots=True)
class Traffic:
    """What passes between an array in memory outside and the kernel in one direction, in one run of it.

    Attributes:
        array: its name.
        bundle: of the port that it passes.
        bank: what the port is connected to; ``""`` where the schedule does not say.
        direction: seen from the kernel.
        words: of a packed array those of the port, of others elements; on average over trip counts.
        word_bytes: of a word.
        bursts: requests that a tool makes of them; a request of many words is split into those of AXI.
        beats: words of the longest request of AXI.
        outstanding: requests that may be on their way.
        of: the array, where this is a further pointer to it (`qor_gnn.design.spread`); ``""`` for the first.
    """

    array: str
    bundle: str
    bank: str
    direction: Literal["read", "write"]
    words: float
    word_bytes: int
    bursts: float
    beats: int
    outstanding: int
    of: str = ""

    @property
    def bytes(self) -> float:
        """What is moved."""
        return self.words * self.word_bytes

    @property
    def in_flight(self) -> float:
        """Bytes that can be on their way at a time."""
        longest = min(self.beats, self.words / self.bursts) if self.bursts else self.beats
        return self.outstanding * max(1.0, longest) * self.word_bytes


BURST = 16
"""Beats of a burst of the tool where nothing is said, and bursts that may be on their way (UG1399)."""
_PAGE = 4096  # bytes that no burst of AXI crosses
_LONGEST = 256  # beats of a burst of AXI


def traffic(kernel: Kernel, functions: Sequence[Sequence[Region]]) -> tuple[Traffic, ...]:
    """Each array outside and direction in which it passes anything.

    Args:
        kernel: the design.
        functions: the scheduled regions of each of its functions.
    """
    if all(m.port is None for m in kernel.memories):
        return ()
    words: dict[tuple[int, bool], float] = defaultdict(float)
    bursts: dict[tuple[int, bool], float] = defaultdict(float)
    for regions in functions:
        for region, entered in _entered(regions, 1.0):
            for memory, *numbers in _words(region, kernel.memories):
                for write, number in zip((False, True), numbers, strict=True):
                    if number:
                        key = memory, write
                        moved = entered * region.iterations * number
                        words[key] += moved
                        whole = _along(region, kernel.memories[memory], number)
                        bursts[key] += entered if whole else moved
    return tuple(
        _of(kernel.memories[memory], write, words[memory, write], bursts[memory, write])
        for memory, write in sorted(words)
        if words[memory, write] > 0
    )


def _entered(regions: Sequence[Region], times: float) -> Iterator[tuple[Region, float]]:
    """Each region that has a body, and how often it is entered."""
    for region in regions:
        if region.body is not None:
            yield region, times
        yield from _entered(region.children, times * max(region.iterations, 0.0))


def _words(region: Region, memories: Sequence[Memory]) -> Iterator[tuple[int, float, float]]:
    """Memory, words read and words written in an average iteration."""
    body = region.body
    assert body is not None
    for memory, (read, written) in words_of(body, memories).items():
        yield memory, read * _share(region, memory, False), written * _share(region, memory, True)


def _share(region: Region, memory: int, write: bool) -> float:
    """The part of the iterations of a flattened nest in which an access is made: that of statements around
    the innermost loop is made once for all of it.
    """
    body = region.body
    assert body is not None
    graph, table = body.graph, body.graph.addresses
    kept = {graph.address[n] for n in graph.early_stores}
    if write:
        stored = {*body.store_value, *body.conditional, *body.registers, *kept}
        made = {a: c.when for a, c in graph.conditional.items()}
    else:
        stored = {a for a in graph.loads if a >= 0}
        made = dict(graph.loaded)
    own = [a for a in stored if table.shape(a).memory == memory]
    if not own or len(region.loops) < 2:
        return 1.0
    inner = max(1.0, trips_of(region.loops[-1], "average") / region.loops[-1].factor)
    shares = [1 / inner if made.get(a) in ("first", "last") else 1.0 for a in own]
    return sum(shares) / len(shares)


def _along(region: Region, memory: Memory, words: float) -> bool:
    """A region goes along an array without a gap."""
    if not region.loops:
        return False
    last = region.loops[-1]
    for access in accesses_in(last.body):
        if access.memory == memory.name:
            step = word_steps(access, memory, region.loops)[-1] * last.factor
            if 0 < step <= max(1.0, words):
                return True
    return False


def _of(memory: Memory, write: bool, words: float, bursts: float) -> Traffic:
    port = memory.port
    assert port is not None
    size = max(1, port.lanes) * word_bits(memory.dtype) // 8
    bundle = port.bundle if write or not port.reads else port.reads
    return Traffic(
        memory.name, bundle, port.bank, "write" if write else "read", words, size, min(bursts, words),
        longest_burst(port, size), port.outstanding or BURST, port.of,
    )  # fmt: skip


def longest_burst(port: Port, word_bytes: int) -> int:
    """Beats of the longest burst of a port: at most 256, and none over 4 KiB."""
    return max(1, min(port.burst or BURST, _LONGEST, _PAGE // word_bytes))


def stored_bytes(memory: Memory) -> int:
    """Bytes of an array in memory outside, its rows padded to whole words."""
    lanes = memory.port.lanes if memory.port is not None else 0
    shape = list(memory.shape)
    if lanes:
        shape[-1] = -(-shape[-1] // lanes) * lanes
    return prod(shape) * word_bits(memory.dtype) // 8
