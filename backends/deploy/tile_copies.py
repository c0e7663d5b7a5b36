"""Copies of tiles: the boxes that accesses of a nest make, and the cycles in which they pass a port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from dsl.expressions.affine import Affine

WAIT = 72
"""Cycles until a burst begins to pass (vitis_2023_2, ``outside``)."""
_WORDS = 4
"""Words in a cycle that go from one copy on the chip to another, at least, as both are in banks."""


@dataclass(frozen=True, slots=True)
class Moved:
    """An access to an array of a nest.

    Attributes:
        array: its name.
        indices: over the loops, counted from 0.
        shape: of the array.
        bits: of an element.
        lanes: elements of a word; 1 where it is not packed.
        written: whether it is assigned.
        port: that it passes through: a word a cycle in each direction, whatever arrays share it.
    """

    array: str
    indices: tuple[Affine, ...]
    shape: tuple[int, ...]
    bits: int
    lanes: int
    written: bool
    port: str


@dataclass(frozen=True, slots=True)
class TileCopy:
    """A copy of a tile: its accesses, the cycles to move it one way, whether it is copied in and out, its bits, and
    the bits of what is copied in by itself where tiles overlap, the cycles in which the tile starts from that, its
    extents, and the ports at which its rows take turns.
    """

    group: Sequence[Moved]
    cycles: float
    read: bool
    written: bool
    bits: int
    first: int
    started: int
    box: tuple[int, ...]
    ports: int = 1

    @property
    def both(self) -> bool:
        """Whether it is copied in and out."""
        return self.read and self.written


def through_one(copy: TileCopy) -> TileCopy:
    """The copy through one port: what a tile copies in and out again in turn has no others (`polyhedral.requests.second_pointers`)."""
    return replace(copy, cycles=copy.cycles * copy.ports, ports=1) if copy.both else copy


def grouped(moved: Sequence[Moved]) -> list[list[Moved]]:
    """Accesses that move alike share a copy."""
    found: dict[object, list[Moved]] = {}
    for one in moved:
        linear = tuple(index.terms for index in one.indices)
        found.setdefault((one.array, linear), []).append(one)
    return list(found.values())


def moves_with(one: Moved, loop: str) -> bool:
    """Whether a loop moves what is accessed."""
    return any(loop == str(v) for index in one.indices for v in index.variables())


def copy_of(
    group: Sequence[Moved],
    spans: Mapping[str, int],
    whole: Mapping[str, int],
    shares: Mapping[str, float],
) -> TileCopy:
    """The copy of a tile of these extents, of loops that are so long as a whole; of the last tiles a share is there."""
    box = _box(group, spans)
    reads = any(not one.written for one in group)
    writes = any(one.written for one in group)
    edges = writes and not reads and _ends_inside(group, whole)
    moving = {str(v) for index in group[0].indices for v in index.variables()}
    cycles = _transfer(box, group) * prod(shares.get(name, 1) for name in moving)
    bits = prod(box) * group[0].bits
    taken = ceil(prod(box) / (_WORDS * group[0].lanes))
    first = (bits, taken) if reads and writes else (0, 2 * prod(box[:-1]) if edges else 0)
    return TileCopy(group, cycles, reads or edges, writes, bits, *first, box)


def copied_in(copies: Sequence[TileCopy]) -> float:
    """Cycles in which copies of a place are read, those of several ports at the same time."""
    return _busiest([copy for copy in copies if copy.read])


def copied_out(copies: Sequence[TileCopy]) -> float:
    """Cycles in which copies of a place are written."""
    return _busiest([copy for copy in copies if copy.written])


def _busiest(copies: Sequence[TileCopy]) -> float:
    """Cycles of the port that passes most."""
    ports: dict[str, float] = {}
    for copy in copies:
        port = copy.group[0].port
        ports[port] = ports.get(port, 0) + copy.cycles
    return max(ports.values(), default=0)


def _box(group: Sequence[Moved], spans: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of a copy, of whole words."""
    first = group[0]
    box = []
    for d, index in enumerate(first.indices):
        if index.is_data:
            box.append(first.shape[d])
            continue
        consts = [one.indices[d].const for one in group if one.indices[d].terms == index.terms]
        span = 1 + max(consts) - min(consts)
        span += sum(abs(c) * (spans.get(str(v), 1) - 1) for v, c in index.terms)
        box.append(min(span, first.shape[d]))
    box[-1] = ceil(box[-1] / first.lanes) * first.lanes
    return tuple(box)


def _ends_inside(group: Sequence[Moved], whole: Mapping[str, int]) -> bool:
    """Whether what is written of a row begins or ends inside of a word, the rest of which is copied in then."""
    first = group[0]
    index = first.indices[-1]
    end = index.const + 1 + sum(c * (whole.get(str(v), 1) - 1) for v, c in index.terms if c > 0)
    return index.const % first.lanes != 0 or (end % first.lanes != 0 and end < first.shape[-1])


def _transfer(box: Sequence[int], group: Sequence[Moved]) -> int:
    """Cycles to copy it one way."""
    first = group[0]
    words = list(box)
    words[-1] = ceil(box[-1] / first.lanes)
    whole = [*first.shape[:-1], ceil(first.shape[-1] / first.lanes)]
    bursts = 1
    for d in reversed(range(len(words))):
        if words[d] < whole[d]:
            bursts = prod(words[:d])
            break
    return prod(words) + bursts * WAIT
