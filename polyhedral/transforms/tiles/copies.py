"""Copies of what a loop touches of an array: the locals, and the statements that copy in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from dsl.programs.buffered import Region, with_regions
from dsl.programs.names import NAME, unused
from dsl.programs.program import MAX_EXTENT, Array, Node, Program, Storage
from dsl.schedules.steps import Buffer
from polyhedral.transforms.tiles.copy_nests import (
    Body,
    Side,
    accesses_of,
    copied_in,
    copying,
    fresh_name,
    nested,
    sides_of,
    where,
)
from polyhedral.transforms.tiles.first_copies import First, is_in_and_out, loads_and_takes, parts_of
from polyhedral.transforms.tiles.footprint import Tile, union_of


@dataclass(frozen=True, eq=False)
class Tiles:
    """The copies that an iteration works on."""

    body: Body
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class _Names:
    """What a copy and its statements and loops are called; ``firsts`` where it starts from copies of what is copied
    in.
    """

    array: str
    load: str
    store: str
    firsts: tuple[First, ...] = ()


def rewritten(
    program: Program, array: Array, regions: Sequence[Tiles], depth: int, step: Buffer
) -> Program:
    """The program that works on copies.

    Args:
        program: in the loops of the schedule.
        array: what is copied.
        regions: the places, each an execution of the loop that the step names, and its tiles.
        depth: of that loop.
        step: for the name, and for errors.

    Raises:
        ScheduleError: W207 too large; W208 the name; W229 nothing to be copied in apart.
    """
    if step.name and not NAME.fullmatch(step.name):
        raise ScheduleError("W208", f"'{step.name}' cannot be the name of an array", span=step.span)
    taken = {a.name for a in program.arrays}
    stmts = {s.name for s in program.statements()}
    if step.name in taken:
        raise ScheduleError("W208", f"there is an array called '{step.name}'", span=step.span)
    naming = _Naming(array, step, taken, set(stmts), depth if _are_apart(regions) else 0)
    # Copies of the loop share a memory, as they share all that is asked of it.
    names = [
        naming.of([r for r in regions if n < len(r.tiles)], n)
        for n in range(max(len(r.tiles) for r in regions))
    ]
    if step.apart and not any(own.firsts for own in names):
        text = f"no copy of '{array.name}' is copied in and out"
        raise ScheduleError("W229", text, span=step.span, help="leave apart out")
    return with_regions(program, naming.arrays, [_region(r, array, names, stmts) for r in regions])


@dataclass(slots=True)
class _Naming:
    """Makes the copies, and names for them and what copies."""

    array: Array
    step: Buffer
    taken: set[str]
    stems: set[str]
    scope: int
    arrays: list[Array] = field(default_factory=list)

    def of(self, regions: Sequence[Tiles], n: int) -> _Names:
        """The names for a tile of each region."""
        # No other copy has statements, and so loops, of these names.
        load, store = self._stem("load"), self._stem("store")
        own = [(r.tiles[n], r.body) for r in regions]
        apart = [parts_of(*one) for one in own if is_in_and_out(one[0])] if self.step.apart else []
        base = self.step.name or f"{self.array.name}_buf"
        name = unused(base, self.taken)
        self.taken.add(name)
        firsts = []
        for k in range(max(map(len, apart), default=0)):
            boxes = [parts[k].extents for parts in apart if k < len(parts)]
            first = self._copy(unused(f"{name}_in", self.taken), boxes)
            firsts.append(First(first, self._stem("load") if k else load, self._stem("take")))
        self._copy(name, [tile.extents for tile, _ in own])
        return _Names(name, load, store, tuple(firsts))

    def _stem(self, does: str) -> str:
        return fresh_name(f"{does}_{self.array.name}", self.stems)

    def _copy(self, name: str, boxes: Sequence[tuple[int, ...]]) -> str:
        """A copy that has room for each of the boxes."""
        shape = tuple(max(extents) for extents in zip(*boxes, strict=True))
        size = prod(shape)
        if size > MAX_EXTENT:
            text = f"'{name}' would have {size:,} elements"
            raise ScheduleError("W207", text, span=self.step.span)
        self.taken.add(name)
        array = self.array
        self.arrays.append(
            Array(name, array.dtype, shape, Storage.LOCAL, False, self.scope, array.span)
        )
        return name


def _region(region: Tiles, array: Array, names: Sequence[_Names], stmts: set[str]) -> Region:
    """What is copied in and out, and the accesses to the copies; ``stmts`` are the names taken."""
    body = region.body
    before: list[Node] = []
    begins: list[Node] = []
    after: list[Node] = []
    accesses: dict[tuple[str, Access], Access] = {}
    for tile, own in zip(region.tiles, names, strict=False):
        for use in tile.uses:
            inside = zip(use.access.indices, tile.offsets, strict=True)
            # What is data stays inside of the array, not in the padding that a copy may have besides.
            limits = tuple(
                (x, n) for x, n in zip(use.access.indices, array.shape, strict=True) if x.is_data
            )
            accesses[use.name, use.access] = Access(
                own.array, tuple(x - o for x, o in inside), limits=limits
            )
        if own.firsts and is_in_and_out(tile):
            loads, takes = loads_and_takes(tile, body, array, own.array, own.firsts, stmts)
            before += loads
            begins += takes
        elif tile.loaded is not None:
            before.append(_load(tile, tile.loaded, body, array, own, stmts))
        if tile.stored is not None:
            after.append(_store(tile, tile.stored, body, array, own, stmts))
    return Region(body.loop, accesses, tuple(before), tuple(after), tuple(begins))


def _load(
    tile: Tile, loaded: isl.Set, body: Body, array: Array, names: _Names, stmts: set[str]
) -> Node:
    """Copies in the box around what is read first, where anything is."""
    points = tile.inside(loaded, body.names)
    sides = sides_of(points, tile, body, array, names.load)
    outside, inside = accesses_of(tile, sides, array.name, names.array)
    node = copying(fresh_name(names.load, stmts), inside, outside, array)
    return copied_in(points, sides, node, body, array)


def _store(
    tile: Tile, written: isl.Set, body: Body, array: Array, names: _Names, stmts: set[str]
) -> Node:
    """Copies out what is written, and nothing else."""
    points = tile.inside(written, body.names)
    sides = sides_of(points, tile, body, array, names.store)
    outside, inside = accesses_of(tile, sides, array.name, names.array)
    node: Node = copying(fresh_name(names.store, stmts), outside, inside, array)
    lanes = sides[-1].loops[1:]  # of a word, which is stored or not
    node = nested([Side(lanes, Affine())], node)
    words = [*sides[:-1], replace(sides[-1], loops=sides[-1].loops[:1])]
    return nested(words, where(node, points, body, words, lanes))


def _are_apart(regions: Sequence[Tiles]) -> bool:
    """Whether no two places run the same iterations of the loops around, so that copies of the
    array can belong to these.
    """
    sets = [
        union_of(
            [
                u.elements.project_out(isl.dim_type.set, u.depth, len(u.access.indices))
                for tile in region.tiles
                for u in tile.uses
            ]
        )
        for region in regions
    ]
    return all(a.is_disjoint(b) for n, a in enumerate(sets) for b in sets[:n])
