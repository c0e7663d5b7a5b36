"""Copies of what is copied in, from which the copies that are worked on start.

What is copied in of a tile may be but its edges: words of which the tile writes a part. Then just these are
copied, box by box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from dsl.programs.program import Array, Node
from polyhedral.transforms.tiles.copy_nests import (
    Body,
    Side,
    accesses_of,
    copied_in,
    copying,
    fresh_name,
    sides_of,
)
from polyhedral.transforms.tiles.footprint import Tile

_PARTS = 4
_SHARE = 4
"""Parts are copied by themselves where there are so few, and where they are so small a part of all."""


@dataclass(frozen=True, slots=True)
class First:
    """What a first copy, and what copies to and from it, is called."""

    array: str
    load: str
    take: str


@dataclass(frozen=True, eq=False)
class Part:
    """Points of a box, as ``[r, y]``, and the box of whole words around them in all iterations."""

    points: isl.Set
    low: tuple[int, ...]
    extents: tuple[int, ...]


def is_in_and_out(tile: Tile) -> bool:
    """Whether a tile is copied in and out."""
    return tile.loaded is not None and tile.stored is not None


def parts_of(tile: Tile, body: Body) -> list[Part]:
    """What is copied in of a tile, in one part or several."""
    assert tile.loaded is not None, "it is copied in"
    points = tile.inside(tile.loaded, body.names).coalesce()
    whole = _part(points, tile)
    if tile.words is None:
        return [whole]
    pieces = sorted(map(isl.Set.from_basic_set, points.get_basic_sets()), key=str)
    parts = [_part(piece, tile) for piece in pieces]
    small = _SHARE * sum(prod(part.extents) for part in parts) <= prod(whole.extents)
    return parts if small and len(parts) <= _PARTS else [whole]


def _part(points: isl.Set, tile: Tile) -> Part:
    rank = len(tile.offsets)
    values = points.project_out(isl.dim_type.set, 0, points.dim(isl.dim_type.set) - rank)
    low = [values.dim_min_val(d).to_python() for d in range(rank)]
    end = [values.dim_max_val(d).to_python() + 1 for d in range(rank)]
    if tile.words is not None:
        lanes = tile.words.lanes
        low[-1] -= low[-1] % lanes
        end[-1] = -(-end[-1] // lanes) * lanes
    return Part(points, tuple(low), tuple(e - a for a, e in zip(low, end, strict=True)))


def loads_and_takes(
    tile: Tile, body: Body, array: Array, copy: str, firsts: Sequence[First], stmts: set[str]
) -> tuple[list[Node], list[Node]]:
    """What copies a tile in, and what the copy that is worked on starts with.

    Args:
        tile: of the array.
        body: where it is.
        array: what is copied.
        copy: the one that is worked on.
        firsts: for each of `parts_of` the tile.
        stmts: names that are taken.
    """
    loads: list[Node] = []
    takes: list[Node] = []
    for part, names in zip(parts_of(tile, body), firsts, strict=False):
        for stem, found in ((names.load, loads), (names.take, takes)):
            name = fresh_name(stem, stmts)
            box = sides_of(part.points, tile, body, array, stem)
            if tile.words is not None:
                box[-1] = _narrowed(box[-1], part, tile.words.lanes)
            outside, inside = accesses_of(tile, box, array.name, copy)
            first = Access(
                names.array, tuple(y - at for y, at in zip(inside.indices, part.low, strict=True))
            )
            ends = (first, outside) if found is loads else (inside, first)
            found.append(copied_in(part.points, box, copying(name, *ends, array), body, array))
    return loads, takes


def _narrowed(side: Side, part: Part, lanes: int) -> Side:
    """The words of a part, of those of the box."""
    words, *rest = side.loops
    first = part.low[-1] // lanes
    lowers = (*words.lowers, Affine.of(first))
    uppers = (*words.uppers, Affine.of(first + part.extents[-1] // lanes))
    return replace(side, loops=(replace(words, lowers=lowers, uppers=uppers), *rest))
