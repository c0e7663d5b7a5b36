"""Copies of what a loop touches of an array: the locals, and the statements that copy in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.programs.buffered import Region, with_regions
from dsl.programs.names import NAME, unused
from dsl.programs.program import MAX_EXTENT, Array, If, Loop, Node, Program, Stmt, Storage
from dsl.schedules.steps import Buffer
from polyhedral.isl.conditions import limits_of
from polyhedral.isl.text import affine_text, map_of, positional, set_of
from polyhedral.scop.scop import Statement
from polyhedral.transforms.footprint import Tile, along, union_of
from polyhedral.transforms.materialise import Materialised, narrowed


@dataclass(frozen=True, eq=False)
class Body:
    """An execution of the loop that is buffered in, in one place.

    Attributes:
        loop: by its number in preorder; None for the program.
        around: the loops around, with itself.
        statements: in it, in order.
        found: the pieces.
    """

    loop: int | None
    around: tuple[Loop, ...]
    statements: tuple[Statement, ...]
    found: Materialised

    @property
    def names(self) -> tuple[str, ...]:
        """The loops around."""
        return tuple(loop.var for loop in self.around)


@dataclass(frozen=True, eq=False)
class Tiles:
    """The copies that an iteration works on."""

    body: Body
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class _Names:
    """What a copy and its statements and loops are called."""

    array: str
    load: str
    store: str


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
        ScheduleError: W207 too large; W208 the name.
    """
    if step.name and not NAME.fullmatch(step.name):
        raise ScheduleError("W208", f"'{step.name}' cannot be the name of an array", span=step.span)
    arrays: list[Array] = []
    taken = {a.name for a in program.arrays}
    stmts = {s.name for s in program.statements()}
    stems = set(stmts)
    if step.name in taken:
        raise ScheduleError("W208", f"there is an array called '{step.name}'", span=step.span)
    base = step.name or f"{array.name}_buf"
    scope = depth if _are_apart(regions) else 0
    # Copies of the loop share a memory, as they share all that is asked of it.
    names: list[_Names] = []
    for n in range(max(len(r.tiles) for r in regions)):
        name = unused(base, taken)
        taken.add(name)
        # No other copy has statements, and so loops, of these names.
        load, store = (_fresh(f"{does}_{array.name}", stems) for does in ("load", "store"))
        names.append(_Names(name, load, store))
        boxes = [r.tiles[n].extents for r in regions if n < len(r.tiles)]
        shape = tuple(max(extents) for extents in zip(*boxes, strict=True))
        size = prod(shape)
        if size > MAX_EXTENT:
            text = f"'{name}' would have {size:,} elements"
            raise ScheduleError("W207", text, span=step.span)
        arrays.append(Array(name, array.dtype, shape, Storage.LOCAL, False, scope, array.span))
    return with_regions(program, arrays, [_region(r, array, names, stmts) for r in regions])


def _region(region: Tiles, array: Array, names: Sequence[_Names], stmts: set[str]) -> Region:
    """What is copied in and out, and the accesses to the copies; ``stmts`` are the names taken."""
    body = region.body
    before: list[Node] = []
    after: list[Node] = []
    accesses: dict[tuple[str, Access], Access] = {}
    for tile, own in zip(region.tiles, names, strict=False):
        for use in tile.uses:
            inside = zip(use.access.indices, tile.offsets, strict=True)
            accesses[use.name, use.access] = Access(own.array, tuple(x - o for x, o in inside))
        if tile.loaded is not None:
            before.append(_load(tile, tile.loaded, body, array, own, stmts))
        if tile.stored is not None:
            after.append(_store(tile, tile.stored, body, array, own, stmts))
    return Region(body.loop, accesses, tuple(before), tuple(after))


def _load(
    tile: Tile, loaded: isl.Set, body: Body, array: Array, names: _Names, stmts: set[str]
) -> Node:
    """Copies in the box around what is read first, where anything is. Of a local, the rest of a box
    may not be written yet: just what is read.
    """
    points = tile.inside(loaded, body.names)
    sides = _sides(points, tile, body, array, names.load)
    outside, inside = _both(tile, sides, array.name, names.array)
    node: Node = _copy(_fresh(names.load, stmts), inside, outside, array)
    if array.storage is Storage.LOCAL:
        node = _where(node, points, body, sides)
    node = _nest(sides, node)
    depth, rank = len(body.around), len(tile.offsets)
    when = narrowed(points.project_out(isl.dim_type.set, depth, rank), body.names, body.around)
    return node if when is None else If(when, (node,))


def _store(
    tile: Tile, written: isl.Set, body: Body, array: Array, names: _Names, stmts: set[str]
) -> Node:
    """Copies out what is written, and nothing else."""
    points = tile.inside(written, body.names)
    sides = _sides(points, tile, body, array, names.store)
    outside, inside = _both(tile, sides, array.name, names.array)
    node: Node = _copy(_fresh(names.store, stmts), outside, inside, array)
    lanes = sides[-1].loops[1:]  # of a word, which is stored or not
    node = _nest([_Side(lanes, Affine())], node)
    words = [*sides[:-1], replace(sides[-1], loops=sides[-1].loops[:1])]
    return _nest(words, _where(node, points, body, words, lanes))


def _copy(name: str, target: Access, source: Access, array: Array) -> Stmt:
    return Stmt(name, target, Load(source, array.dtype), None, f"{target} = {source}")


@dataclass(frozen=True, slots=True)
class _Side:
    """A dimension of a box: no loop where it has one element, two where it is of words; and the
    subscript of the copy.
    """

    loops: tuple[Loop, ...]
    y: Affine


def _where(
    node: Node, points: isl.Set, body: Body, sides: Sequence[_Side], any_of: Sequence[Loop] = ()
) -> Node:
    """What is done at these points ``[r, y]`` alone, or where one of those of further loops is."""
    around = [*body.around, *(loop for side in sides for loop in side.loops)]
    every = [loop.var for loop in (*around, *any_of)]
    own = positional(every)
    to = [*(own[name] for name in body.names), *(affine_text(side.y, own) for side in sides)]
    inside = points.apply(
        map_of(f"{{ [{', '.join(own.values())}] -> [{', '.join(to)}] }}").reverse()
    )
    if any_of:
        lanes = [
            f"0 <= {own[loop.var]} < {upper.const}"
            for loop in any_of
            for upper in loop.uppers
            if upper.is_const
        ]
        inside = inside.intersect(
            set_of(f"{{ [{', '.join(own.values())}] : {' and '.join(lanes)} }}")
        )
        inside = inside.project_out(isl.dim_type.set, len(around), len(any_of))
    when = narrowed(inside, [loop.var for loop in around], around)
    return node if when is None else If(when, (node,))


def _fresh(name: str, stmts: set[str]) -> str:
    found = unused(name, stmts)
    stmts.add(found)
    return found


def _sides(points: isl.Set, tile: Tile, body: Body, array: Array, name: str) -> list[_Side]:
    """The loops for each dimension of the box, around ``[r, y]``: none leaves the array."""
    depth = len(body.around)
    rank = points.dim(isl.dim_type.set) - depth
    found: list[_Side] = []
    for d in range(rank):
        if tile.extents[d] == 1:
            found.append(_Side((), Affine()))
            continue
        var = unused(f"{name}_{d}", body.names)
        if tile.words is not None and d == rank - 1:
            lane = unused(f"{name}_lane", body.names)
            starts = points.project_out(isl.dim_type.set, depth, rank)
            loops = tile.words.loops(
                var, lane, tile.offsets[d], tile.extents[d], starts, body.names
            )
            found.append(_Side(loops, Affine.of(var) * tile.words.lanes + Affine.of(lane)))
            continue
        own = positional([*body.names, var])
        x = affine_text(Affine.of(var) + tile.offsets[d], own)
        array_ = set_of(f"{{ [{', '.join(own.values())}] : 0 <= {x} < {array.shape[d]} }}")
        lowers, uppers = limits_of(along(points, depth, d), [*body.names, var], array_)
        found.append(_Side((Loop(var, lowers, uppers, 1, ()),), Affine.of(var)))
    return found


def _both(tile: Tile, sides: Sequence[_Side], array: str, copy: str) -> tuple[Access, Access]:
    """The element outside and the one in the copy."""
    y = tuple(side.y for side in sides)
    outside = tuple(a + o for a, o in zip(y, tile.offsets, strict=True))
    return Access(array, outside), Access(copy, y)


def _nest(sides: Sequence[_Side], node: Node) -> Node:
    for loop in reversed([loop for side in sides for loop in side.loops]):
        node = replace(loop, body=(node,))
    return node


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
