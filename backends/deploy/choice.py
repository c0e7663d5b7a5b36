"""Which tiles move least: sizes and order of the tile loops of a nest, by what is copied in and out for them.

Counted is what the model counts (`qor_gnn.memory.bursts`): a word a cycle, and the way to memory for each burst, which
rows that are not whole are by themselves; each tile again, as often as the loops around it run. Computing, with what
tiles that do not divide waste, is counted as on all DSP slices. The extents of a tile are those of the subscripts, each by
itself: `buffer` finds the exact ones. Where what moves with the innermost tile loop goes one way, it is copied while
other tiles are worked on (`polyhedral.legality.loop_regions`): then these copies are there twice, and the slowest of
them, or computing, is what counts, and the first tile's copying in and the last one's copying out besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import ceil, gcd, prod

from backends.deploy.tile_copies import (
    Moved,
    TileCopy,
    copied_in,
    copied_out,
    copy_of,
    grouped,
    moves_with,
    through_one,
)

_TILE = 60
"""About the cycles of filling and draining a pipeline: of each statement in each tile."""
ADD = 5
"""States of an adder of f32, about: of a sum in a tile each term waits for the one before it, however many sums
there are."""
_TREE = 16
_TREE_ADD = 28
"""Terms of a sum that are added at once, where they may be in any order, and the states of such a tree."""
_NEAR = 1.05
"""Tiles are as good as the best up to so many times its cycles: of these the fewest leave the search most choice."""
_LADDER = 9  # sizes of each loop, the whole of it among them
_RATIOS = (2, 4, 16)
"""Of a size to the next one: of long loops those of the first may all be too large."""


_Placed = Sequence[tuple[TileCopy, int]]  # with the position of the tile loop that it is copied at


@dataclass(frozen=True, slots=True)
class Choice:
    """Tiles of a nest.

    Attributes:
        sizes: of each loop.
        order: of the tile loops, positions in the nest, outermost first.
        cycles: for copies, and what guards waste.
        bits: of all copies.
        apart: arrays that are copied in apart from what is copied out.
        whole: arrays that are copied once, in front of all tiles: each tile accesses all of them anyway.
        overlaps: tiles are copied while others are worked on.
    """

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    cycles: float
    bits: int
    apart: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    overlaps: bool = False


@dataclass(frozen=True, slots=True)
class Tileable:
    """A nest that is to be tiled.

    Attributes:
        loops: that are tiled.
        extents: of these.
        every: what tiles of each are multiples of.
        inner: extents of the loops further in, by name.
        moved: accesses of the statements.
        work: for each statement its loops, and the DSP slices of one iteration a cycle.
        chains: for each sum of floats the loops that it goes over.
        trees: the terms of these sums may be added in any order.
        in_turn: arrays that are not copied in apart from what is copied out.
        registers: arrays that are stored in words, without a copy of the tile.
        ports: of an array, at whose rows of a tile may take turns.
    """

    loops: Sequence[str]
    extents: Sequence[int]
    every: Sequence[int]
    inner: Mapping[str, int]
    moved: Sequence[Moved]
    work: Sequence[tuple[Sequence[str], int]]
    chains: Sequence[Sequence[str]]
    trees: bool = False
    in_turn: Set[str] = frozenset()
    registers: Set[str] = frozenset()
    ports: int = 1


def choices(nest: Tileable, dsp: int, room: int) -> list[Choice]:
    """The tiles that fit, those that move least first.

    Args:
        nest: what is tiled.
        dsp: slices of the chip.
        room: bits for copies.
    """
    for ratio in _RATIOS:
        ladders = [
            _ladder(n, k, ratio, nest.ports) for n, k in zip(nest.extents, nest.every, strict=True)
        ]
        groups = grouped(nest.moved)
        found = _fitting(nest, groups, ladders, dsp, room)
        if found:
            return _sorted(nest, found)
    return []


def _sorted(nest: Tileable, found: Sequence[Choice]) -> list[Choice]:
    """The fastest first, and of those that are nearly as fast the ones with the fewest tiles, one alone behind them. Where
    tiles cannot overlap as an array goes both ways in turn, larger ones are always a little faster: of the nearly
    fastest the smallest leave memory to other nests.
    """
    best = min(found, key=lambda choice: choice.cycles)
    near = _NEAR * best.cycles
    all_ = prod(nest.extents)

    def place(choice: Choice) -> tuple[float, ...]:
        size = prod(choice.sizes)
        first = (
            (0, size if nest.in_turn and not best.overlaps else -size)
            if choice.cycles <= near and size < all_
            else (1, 0)
        )
        return *first, choice.cycles, choice.bits, *choice.sizes, *choice.order

    return sorted(found, key=place)


def _fitting(
    nest: Tileable,
    groups: Sequence[Sequence[Moved]],
    ladders: Sequence[Sequence[int]],
    dsp: int,
    room: int,
) -> list[Choice]:
    """The choices of these sizes whose copies fit."""
    found: list[Choice] = []
    whole = _whole(nest)
    for sizes in product(*ladders):
        spans = {**nest.inner, **dict(zip(nest.loops, sizes, strict=True))}
        counts = [ceil(n / t) for n, t in zip(nest.extents, sizes, strict=True)]
        parts = zip(nest.loops, nest.extents, sizes, counts, strict=True)
        shares = {name: n / (t * count) for name, n, t, count in parts}
        ragged = {
            name
            for name, n, t in zip(nest.loops, nest.extents, sizes, strict=True)
            if n % t and t < n
        }
        copies = [copy_of(group, spans, whole, shares) for group in groups]
        if nest.ports > 1:
            copies = [_spread(copy, _ports(copy, ragged, nest.ports)) for copy in copies]
        copies = [replace(c, bits=0) if _array(c) in nest.registers else c for c in copies]
        if sum(copy.bits for copy in copies) > room:
            continue
        work = _computed(nest, spans, sizes, counts, dsp)
        apart = not any(_ends_early(group, whole, ragged) for group in groups)
        for order in permutations(range(len(nest.loops))):
            if any(counts[k] == 1 for k in order) and order != _plain(order, counts):
                continue  # a loop of one tile stands anywhere
            levels = [_level(group, order, nest.loops, counts) for group in groups]
            ways = [
                Choice(sizes, order, cycles, bits, alone, kept, overlaps)
                for placed, kept in _placements(copies, levels, whole)
                for (cycles, bits, alone), overlaps in (
                    ((*_in_turn(placed, work, order, counts), frozenset[str]()), False),
                    *(
                        (way, True)
                        for way in _at_once(nest, placed, work, order, counts, room)
                        if apart
                    ),
                )
                if bits <= room
            ]
            found.append(min(ways, key=lambda way: way.cycles))
    return found


def _spread(copy: TileCopy, ports: int) -> TileCopy:
    """The copy with rows that take turns at so many ports."""
    return replace(copy, cycles=copy.cycles / ports, ports=ports)


def _ports(copy: TileCopy, ragged: Set[str], ports: int) -> int:
    """Ports at which the rows of a tile take turns: one where some tile has fewer rows than others."""
    if any(moves_with(copy.group[0], name) for name in ragged) or len(copy.box) < 2:
        return 1
    return gcd(copy.box[0], ports)


def _array(copy: TileCopy) -> str:
    return copy.group[0].array


def _placements(
    copies: Sequence[TileCopy], levels: Sequence[int], whole: Mapping[str, int]
) -> Iterator[tuple[_Placed, frozenset[str]]]:
    """Where the copies of the groups are: those of an array at the innermost of its places; and arrays of which some
    accesses move with no tile loop (C += A * A', rows of a tile and all rows) once as a whole, in front of the tiles.
    """
    innermost: dict[str, int] = {}
    outermost: dict[str, int] = {}
    for copy, level in zip(copies, levels, strict=True):
        array = copy.group[0].array
        innermost[array] = max(level, innermost.get(array, level))
        outermost[array] = min(level, outermost.get(array, level))
    yield [(copy, innermost[copy.group[0].array]) for copy in copies], frozenset()
    again = frozenset(a for a, level in outermost.items() if level < 0 <= innermost[a])
    if not again:
        return
    largest: dict[str, TileCopy] = {}
    for copy in copies:
        if (array := copy.group[0].array) in again:
            all_ = copy_of(copy.group, whole, whole, {})
            largest[array] = max(all_, largest.get(array, all_), key=lambda one: one.bits)
    rest = [(c, innermost[a]) for c in copies if (a := c.group[0].array) not in again]
    yield [*rest, *((copy, -1) for copy in largest.values())], again


def _computed(
    nest: Tileable,
    spans: Mapping[str, int],
    sizes: Sequence[int],
    counts: Sequence[int],
    dsp: int,
) -> float:
    """Cycles of computing in all tiles, what guards waste included: on all slices, or as sums wait for themselves."""
    covered = dict(
        zip(nest.loops, (c * t for c, t in zip(counts, sizes, strict=True)), strict=True)
    )
    slices = sum(prod(covered.get(v, spans[v]) for v in own) * n for own, n in nest.work)
    terms = sum(prod(spans.get(name, 1) for name in chain) for chain in nest.chains)
    tiles = prod(counts)
    wait = terms * (_TREE_ADD / _TREE if nest.trees else ADD)
    return max(slices / max(1, dsp), tiles * wait) + tiles * len(nest.work) * _TILE


def _plain(order: tuple[int, ...], counts: Sequence[int]) -> tuple[int, ...]:
    """The order with loops of one tile in front."""
    return tuple(
        sorted(order, key=lambda k: (counts[k] > 1, k if counts[k] == 1 else order.index(k)))
    )


def _ladder(extent: int, every: int, ratio: int, ports: int) -> tuple[int, ...]:
    """Sizes of tiles: all of the loop, and smaller ones, divisors where there are any near, of these the ones that leave
    fewest ports idle.
    """
    found = [extent]
    size = extent
    while len(found) < _LADDER and size > every:
        size = max(every, ceil(size / (ratio * every)) * every)
        near = [
            n
            for n in range(max(every, size * 3 // 4), size * 4 // 3)
            if extent % n == 0 and n % every == 0
        ]
        nearest = max(near, key=lambda n: (gcd(n, ports), n), default=size)
        size = min(nearest, found[-1] - 1)
        found.append(size)
    return tuple(dict.fromkeys(n for n in found if n >= min(every, extent)))


def _whole(nest: Tileable) -> dict[str, int]:
    """The extents of all loops."""
    return {**nest.inner, **dict(zip(nest.loops, nest.extents, strict=True))}


def _ends_early(group: Sequence[Moved], whole: Mapping[str, int], ragged: Set[str]) -> bool:
    """Whether the last tile of what is written covers words that the array has and nobody writes: these are copied in for
    it alone, and tiles that are not alike do not overlap. In other dimensions than that of the words what is copied out
    ends with what is written.
    """
    for one in group:
        index, extent = one.indices[-1], one.shape[-1]
        if not one.written or one.lanes < 2 or ragged.isdisjoint(map(str, index.variables())):
            continue
        ends = index.const + sum(max(0, c) * (whole.get(str(v), 1) - 1) for v, c in index.terms)
        if ends + 1 < extent:
            return True
    return False


def _in_turn(
    placed: _Placed, work: float, order: Sequence[int], counts: Sequence[int]
) -> tuple[float, int]:
    """Cycles, and bits, of copying and computing one after the other."""
    moved = 0.0
    for level in {level for _, level in placed}:
        here = [through_one(copy) if at >= 0 else copy for copy, at in placed if at == level]
        moved += _runs(level, order, counts) * (copied_in(here) + copied_out(here))
    return work + moved, sum(copy.bits for copy, _ in placed)


def _at_once(
    nest: Tileable,
    placed: _Placed,
    work: float,
    order: Sequence[int],
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
    both = [copy for copy in within if copy.both and copy.group[0].array not in nest.in_turn]
    around = order[: innermost + 1]
    alone = [copy for copy in both if not _comes_again(copy.group, around, nest.loops, counts)]
    tiles = _runs(innermost, order, counts)
    for apart in ([], alone) if alone else ([],):
        beside = [copy for copy in within if not copy.both or copy in apart]
        kept = [through_one(copy) for copy in within if copy not in beside]
        bits = sum(copy.bits for copy in (*kept, *(copy for copy, _ in further)))
        bits += 2 * sum(copy.bits + copy.first * (copy in apart) for copy in beside)
        if innermost < 0 or bits > room or not beside:
            continue
        in_turn = copied_in(kept) + copied_out(kept) + sum(c.started for c in apart)
        stages = (copied_in(beside), work / tiles + in_turn, copied_out(beside))
        # The first tile is copied in before anything else, and the last one is worked on and copied out after it.
        again = tiles - _runs(innermost - 1, order, counts)
        slowest = (tiles - again) * sum(stages) + again * max(stages)
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


def _level(
    group: Sequence[Moved], order: Sequence[int], loops: Sequence[str], counts: Sequence[int]
) -> int:
    """Where a group is copied: at the innermost tile loop that it moves with; -1 where it moves with none."""
    moving = {str(v) for index in group[0].indices for v in index.variables()}
    levels = [n for n, k in enumerate(order) if loops[k] in moving and counts[k] > 1]
    return max(levels, default=-1)


def _runs(level: int, order: Sequence[int], counts: Sequence[int]) -> int:
    """How often what is copied at a loop is copied."""
    return prod(counts[order[n]] for n in range(level + 1))
