"""Triangles in tiles: the blocks of a row of tiles that have anything in them, each of them a whole rectangle.

The bound of a loop that moves with a tile is split by the tile's extent, and the loop over the blocks goes around the
tile, so that blocks above the diagonal are left out, and guards are idle in those on it alone. Before::

    for i_0 in range(4):
      for i_1 in range(60):
        for k in range(200):
          for j in range(60 * i_0 + i_1 + 1):
            S(60 * i_0 + i_1, j, k)

After::

    for i_0 in range(4):
      for j_0 in range(i_0 + 1):
        for i_1 in range(60):
          for k in range(200):
            for j_1 in range(60):
              if 60 * j_0 + j_1 <= 60 * i_0 + i_1:
                S(60 * i_0 + i_1, 60 * j_0 + j_1, k)
"""

from __future__ import annotations

from dataclasses import replace

from dse.space.nests.nest import Nest
from dsl.schedules.steps import Reorder, Split, Step
from polyhedral.schedule import tried
from polyhedral.scop.ranges import Interval, constant_interval
from polyhedral.scop.scheduled import Piece, ScheduledScop


def in_blocks(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with loops of variable bounds in tiles that overlap in blocks of the tile's extent; as it is where
    there are none.

    Args:
        state: a structure whose tiles overlap.
        before: the steps that made it.
    """
    steps = before
    for name in dict.fromkeys(p.name for p in state.pieces):
        made = _blocked(state, name)
        if made is not None:
            state, steps = made[0], (*steps, *made[1])
    return state, steps


def blocks_outermost(nest: Nest) -> Nest:
    """The nest with those orders alone in which no loop of variable bounds is inside of another one."""
    kept = tuple(
        order
        for order in nest.orders
        if not order.drains and all(loop.extent is not None for loop in order.loops[1:])
    )
    return replace(nest, orders=kept) if kept else nest


def _blocked(state: ScheduledScop, name: str) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """One statement of the kernel in blocks; None where it has no loop of variable bounds in a tile, or that cannot be."""
    pieces = state.of_statement(name)
    if len(pieces) != 1 or pieces[0].statement.stmt.span is None:
        return None  # copies go along the rows
    (piece,) = pieces
    region = max((k for k, dim in enumerate(piece.dims) if dim.region is not None), default=-1)
    inside = range(region + 1, len(piece.dims))
    varying = [k for k in inside if _interval(piece, k) is None]
    if region < 0 or len(varying) != 1 or varying[0] == region + 1:
        return None
    (level,) = varying
    tile = _interval(piece, region + 1)
    if tile is None or tile.extent < 2 or not all(_is_plain(piece, k) for k in inside):
        return None
    ref = f"{name}.{piece.names[level]}"
    outer, inner = f"{piece.names[level]}_0", f"{piece.names[level]}_1"
    around = [f"{name}.{piece.names[k]}" for k in inside if k < level]
    steps = (
        Split(ref, tile.extent, outer, inner, "guard"),
        Reorder((f"{name}.{outer}", *around, f"{name}.{inner}")),
    )
    moved = tried(state, *steps)
    if moved is None or not all(
        _interval(p, k) is not None
        for p in moved.of_statement(name)
        for k in range(region + 2, len(p.dims))
    ):
        return None
    return moved, steps


def _interval(piece: Piece, level: int) -> Interval | None:
    """The range of a loop where it is always the same, conditions left out."""
    found = constant_interval(piece, level)
    return found or constant_interval(replace(piece, hull=piece.frame), level)


def _is_plain(piece: Piece, level: int) -> bool:
    dim = piece.dims[level]
    return dim.pipeline_ii is None and dim.unroll is None and not dim.lane
