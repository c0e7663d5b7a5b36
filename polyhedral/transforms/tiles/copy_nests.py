"""The nests that copy a box of an array: their loops and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Load
from dsl.programs.names import unused
from dsl.programs.program import Array, If, Loop, Node, Stmt, Storage
from polyhedral.isl.conditions import limits_of
from polyhedral.isl.text import affine_text, map_of, positional, set_of
from polyhedral.scop.scop import Statement
from polyhedral.transforms.materialise import Materialised, narrowed
from polyhedral.transforms.tiles.footprint import Tile, along


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


def copying(name: str, target: Access, source: Access, array: Array) -> Stmt:
    """The statement that copies an element of an array."""
    return Stmt(name, target, Load(source, array.dtype), None, f"{target} = {source}")


@dataclass(frozen=True, slots=True)
class Side:
    """A dimension of a box: no loop where it has one element, two where it is of words; and the
    subscript of the copy.
    """

    loops: tuple[Loop, ...]
    y: Affine


def where(
    node: Node, points: isl.Set, body: Body, sides: Sequence[Side], any_of: Sequence[Loop] = ()
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


def sides_of(points: isl.Set, tile: Tile, body: Body, array: Array, name: str) -> list[Side]:
    """The loops for each dimension of the box, around ``[r, y]``: none leaves the array."""
    depth = len(body.around)
    rank = points.dim(isl.dim_type.set) - depth
    found: list[Side] = []
    for d in range(rank):
        if tile.extents[d] == 1:
            found.append(Side((), Affine()))
            continue
        var = unused(f"{name}_{d}", body.names)
        if tile.words is not None and d == rank - 1:
            lane = unused(f"{name}_lane", body.names)
            starts = points.project_out(isl.dim_type.set, depth, rank)
            loops = tile.words.loops(
                var, lane, tile.offsets[d], tile.extents[d], starts, body.names
            )
            found.append(Side(loops, Affine.of(var) * tile.words.lanes + Affine.of(lane)))
            continue
        own = positional([*body.names, var])
        x = affine_text(Affine.of(var) + tile.offsets[d], own)
        array_ = set_of(f"{{ [{', '.join(own.values())}] : 0 <= {x} < {array.shape[d]} }}")
        lowers, uppers = limits_of(along(points, depth, d), [*body.names, var], array_)
        found.append(Side((Loop(var, lowers, uppers, 1, ()),), Affine.of(var)))
    return found


def accesses_of(tile: Tile, sides: Sequence[Side], array: str, copy: str) -> tuple[Access, Access]:
    """The element outside and the one in the copy."""
    y = tuple(side.y for side in sides)
    outside = tuple(a + o for a, o in zip(y, tile.offsets, strict=True))
    return Access(array, outside), Access(copy, y)


def nested(sides: Sequence[Side], node: Node) -> Node:
    """What is done in the loops of a box."""
    for loop in reversed([loop for side in sides for loop in side.loops]):
        node = replace(loop, body=(node,))
    return node


def fresh_name(name: str, stmts: set[str]) -> str:
    """A name that no statement has, which it then has."""
    found = unused(name, stmts)
    stmts.add(found)
    return found


def copied_in(points: isl.Set, box: Sequence[Side], node: Node, body: Body, array: Array) -> Node:
    """What copies the elements of a box around these points ``[r, y]``, where there are any. Of a local, the rest of a
    box may not be written yet: just the points.
    """
    if array.storage is Storage.LOCAL:
        node = where(node, points, body, box)
    node = nested(box, node)
    depth = len(body.around)
    rank = points.dim(isl.dim_type.set) - depth
    when = narrowed(points.project_out(isl.dim_type.set, depth, rank), body.names, body.around)
    return node if when is None else If(when, (node,))
