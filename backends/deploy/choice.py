"""Which tiles move least: sizes and order of the tile loops of a nest, by what is copied in and out for them.

Counted is what the model counts (`qor_gnn.memory.bursts`): a word a cycle, and the way to memory for each burst, which
rows that are not whole are by themselves; each tile again, as often as the loops around it run. What tiles that do
not divide waste is counted as computing on all DSP slices. The extents of a tile are those of the subscripts, each by
itself: `buffer` finds the exact ones. Where what moves with the innermost tile loop goes one way, it is copied while
other tiles are worked on (`polyhedral.legality.loop_regions`): then these copies are there twice, and the slowest of
them, or computing, is what counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import permutations, product
from math import ceil, prod

from dsl.expressions.affine import Affine

_WAIT = 72
"""Cycles until a burst begins to pass (vitis_2023_2, ``outside``)."""
_TILE = 60
"""About the cycles of filling and draining a pipeline, in each tile."""
_SLICES = 5
"""DSP slices of a multiply-add of f32."""
_ADD = 5
"""States of an adder of f32, about: of a sum in a tile each term waits for the one before it, however many sums
there are."""
_LADDER = 9  # sizes of each loop, the whole of it among them
_RATIOS = (2, 4, 16)
"""Of a size to the next one: of long loops those of the first may all be too large."""


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
    """

    array: str
    indices: tuple[Affine, ...]
    shape: tuple[int, ...]
    bits: int
    lanes: int
    written: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """Tiles of a nest.

    Attributes:
        sizes: of each loop.
        order: of the tile loops, positions in the nest, outermost first.
        cycles: for copies, and what guards waste.
        bits: of all copies.
        apart: arrays that are copied in apart from what is copied out.
    """

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    cycles: float
    bits: int
    apart: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Tileable:
    """A nest that is to be tiled.

    Attributes:
        loops: that are tiled.
        extents: of these.
        every: what tiles of each are multiples of.
        inner: extents of the loops further in, by name.
        moved: accesses of the statements.
        chains: for each sum of floats the loops that it goes over.
    """

    loops: Sequence[str]
    extents: Sequence[int]
    every: Sequence[int]
    inner: Mapping[str, int]
    moved: Sequence[Moved]
    chains: Sequence[Sequence[str]]


def choices(nest: Tileable, dsp: int, room: int) -> list[Choice]:
    """The tiles that fit, those that move least first.

    Args:
        nest: what is tiled.
        dsp: slices of the chip.
        room: bits for copies.
    """
    for ratio in _RATIOS:
        ladders = [_ladder(n, k, ratio) for n, k in zip(nest.extents, nest.every, strict=True)]
        if found := _fitting(nest, ladders, dsp, room):
            return sorted(found, key=lambda c: (c.cycles, c.bits, c.sizes, c.order))
    return []


def _fitting(nest: Tileable, ladders: Sequence[Sequence[int]], dsp: int, room: int) -> list[Choice]:
    """The choices of these sizes whose copies fit."""
    found: list[Choice] = []
    groups = _groups(nest.moved)
    whole = {**nest.inner, **dict(zip(nest.loops, nest.extents, strict=True))}
    for sizes in product(*ladders):
        spans = {**nest.inner, **dict(zip(nest.loops, sizes, strict=True))}
        copies = [_copy(group, spans, whole) for group in groups]
        if sum(copy.bits for copy in copies) > room:
            continue
        counts = [ceil(n / t) for n, t in zip(nest.extents, sizes, strict=True)]
        work = _computed(nest, spans, sizes, counts, dsp)
        ragged = {
            name
            for name, n, t in zip(nest.loops, nest.extents, sizes, strict=True)
            if n % t and t < n
        }
        apart = not any(_ends_early(group, whole, ragged) for group in groups)
        for order in permutations(range(len(nest.loops))):
            if any(counts[k] == 1 for k in order) and order != _plain(order, counts):
                continue  # a loop of one tile stands anywhere
            placed = [(copy, _level(copy.group, order, nest.loops, counts)) for copy in copies]
            cycles, bits = _in_turn(placed, work, order, counts)
            found.append(Choice(sizes, order, cycles, bits))
            at_once = _at_once(placed, work, order, nest.loops, counts, room) if apart else ()
            for cycles, bits, alone in at_once:
                if cycles < found[-1].cycles:
                    found[-1] = Choice(sizes, order, cycles, bits, alone)
    return found


def _computed(
    nest: Tileable,
    spans: Mapping[str, int],
    sizes: Sequence[int],
    counts: Sequence[int],
    dsp: int,
) -> float:
    """Cycles of computing in all tiles, what guards waste included: on all slices, or as sums wait for themselves."""
    iterations = prod(c * t for c, t in zip(counts, sizes, strict=True))
    terms = sum(prod(spans.get(name, 1) for name in chain) for chain in nest.chains)
    tiles = prod(counts)
    return max(iterations * _SLICES / max(1, dsp), tiles * terms * _ADD) + tiles * _TILE


def _plain(order: tuple[int, ...], counts: Sequence[int]) -> tuple[int, ...]:
    """The order with loops of one tile in front."""
    return tuple(
        sorted(order, key=lambda k: (counts[k] > 1, k if counts[k] == 1 else order.index(k)))
    )


def _ladder(extent: int, every: int, ratio: int) -> tuple[int, ...]:
    """Sizes of tiles: all of the loop, and smaller ones, divisors where there are any near."""
    found = [extent]
    size = extent
    while len(found) < _LADDER and size > every:
        size = max(every, ceil(size / (ratio * every)) * every)
        near = [
            n
            for n in range(max(every, size * 3 // 4), size * 4 // 3)
            if extent % n == 0 and n % every == 0
        ]
        size = min(near[-1] if near else size, found[-1] - 1)
        found.append(size)
    return tuple(dict.fromkeys(n for n in found if n >= min(every, extent)))


def _groups(moved: Sequence[Moved]) -> list[list[Moved]]:
    """Accesses that move alike share a copy."""
    found: dict[object, list[Moved]] = {}
    for one in moved:
        linear = tuple(index.terms for index in one.indices)
        found.setdefault((one.array, linear), []).append(one)
    return list(found.values())


def _box(group: Sequence[Moved], spans: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of a copy, of whole words."""
    first = group[0]
    box = []
    for d, index in enumerate(first.indices):
        if index.is_data:
            box.append(first.shape[d])
            continue
        consts = [one.indices[d].const for one in group]
        span = 1 + max(consts) - min(consts)
        span += sum(abs(c) * (spans.get(str(v), 1) - 1) for v, c in index.terms)
        box.append(min(span, first.shape[d]))
    box[-1] = ceil(box[-1] / first.lanes) * first.lanes
    return tuple(box)


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy of a tile: its accesses, the cycles to move it one way, how many ways it goes, its bits, and the
    bits of what is copied in by itself where tiles overlap, and the cycles in which the tile starts from that.
    """

    group: Sequence[Moved]
    cycles: int
    ways: int
    bits: int
    first: int
    started: int


def _copy(group: Sequence[Moved], spans: Mapping[str, int], whole: Mapping[str, int]) -> _Copy:
    """The copy of a tile of these extents, of loops that are so long as a whole."""
    box = _box(group, spans)
    reads = any(not one.written for one in group)
    writes = any(one.written for one in group)
    edges = writes and not reads and _ends_inside(group, whole)
    cycles = _transfer(box, group)
    bits = prod(box) * group[0].bits
    first = (bits, cycles) if reads and writes else (0, 2 * prod(box[:-1]) if edges else 0)
    return _Copy(group, cycles, reads + writes + edges, bits, *first)


def _ends_inside(group: Sequence[Moved], whole: Mapping[str, int]) -> bool:
    """Whether what is written of a row begins or ends inside of a word, the rest of which is copied in then."""
    first = group[0]
    index = first.indices[-1]
    end = index.const + 1 + sum(c * (whole.get(str(v), 1) - 1) for v, c in index.terms if c > 0)
    return index.const % first.lanes != 0 or (end % first.lanes != 0 and end < first.shape[-1])


def _ends_early(group: Sequence[Moved], whole: Mapping[str, int], ragged: Set[str]) -> bool:
    """Whether the last tile of what is written covers elements that the array has and nobody writes: these are
    copied in for it alone, and tiles that are not alike do not overlap.
    """
    written = [one for one in group if one.written]
    for one in written:
        for index, extent in zip(one.indices, one.shape, strict=True):
            if ragged.isdisjoint(map(str, index.variables())):
                continue
            ends = index.const + sum(max(0, c) * (whole.get(str(v), 1) - 1) for v, c in index.terms)
            if ends + 1 < extent:
                return True
    return False


_Placed = Sequence[tuple[_Copy, int]]  # with the position of the tile loop that it is copied at


def _in_turn(
    placed: _Placed, work: float, order: Sequence[int], counts: Sequence[int]
) -> tuple[float, int]:
    """Cycles, and bits, of copying and computing one after the other."""
    moved = sum(_runs(level, order, counts) * copy.cycles * copy.ways for copy, level in placed)
    return work + moved, sum(copy.bits for copy, _ in placed)


def _at_once(
    placed: _Placed,
    work: float,
    order: Sequence[int],
    loops: Sequence[str],
    counts: Sequence[int],
    room: int,
) -> Iterator[tuple[float, int, frozenset[str]]]:
    """The same where what the innermost tile loop copies is copied meanwhile, and the arrays that are copied in apart
    from what is copied out; none where it cannot be.

    What is copied in and out is so in turn with the work; or apart, where the next tile does not read what this one
    has written: then the tile starts from a copy more, in some cycles.
    """
    innermost = max(level for _, level in placed)
    within = [copy for copy, level in placed if level == innermost]
    further = [(copy, level) for copy, level in placed if level < innermost]
    both = [copy for copy in within if copy.ways > 1]
    around = order[: innermost + 1]
    alone = [copy for copy in both if not _comes_again(copy.group, around, loops, counts)]
    tiles = _runs(innermost, order, counts)
    for apart in ([], alone) if alone else ([],):
        beside = [copy for copy in within if copy.ways == 1 or copy in apart]
        kept = [copy for copy in within if copy not in beside]
        bits = sum(copy.bits for copy in (*kept, *(copy for copy, _ in further)))
        bits += 2 * sum(copy.bits + copy.first * (copy in apart) for copy in beside)
        if innermost < 0 or bits > room or not beside:
            continue
        in_turn = sum(copy.cycles * copy.ways for copy in kept) + sum(c.started for c in apart)
        slowest = max(work + tiles * in_turn, *(tiles * copy.cycles for copy in beside))
        names = frozenset(copy.group[0].array for copy in apart)
        yield _in_turn(further, slowest, order, counts)[0], bits, names


def _comes_again(
    group: Sequence[Moved], around: Sequence[int], loops: Sequence[str], counts: Sequence[int]
) -> bool:
    """Whether a tile loop around does not move what is copied, or moves it by parts of words."""
    moving = {str(v) for index in group[0].indices for v in index.variables()}
    row = group[0].indices[-1]
    cut = {str(v) for v in row.variables()} if row.const % group[0].lanes else set()
    return any(counts[k] > 1 and (loops[k] not in moving or loops[k] in cut) for k in around)


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
    return prod(words) + bursts * _WAIT


def _level(
    group: Sequence[Moved], order: Sequence[int], loops: Sequence[str], counts: Sequence[int]
) -> int:
    """Where it is copied: at the innermost tile loop that it moves with; -1 where it moves with none."""
    moving = {str(v) for index in group[0].indices for v in index.variables()}
    levels = [n for n, k in enumerate(order) if loops[k] in moving and counts[k] > 1]
    return max(levels, default=-1)


def _runs(level: int, order: Sequence[int], counts: Sequence[int]) -> int:
    """How often what is copied at a loop is copied."""
    return prod(counts[order[n]] for n in range(level + 1))
