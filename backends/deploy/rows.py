"""Locals that have an element for each iteration of a tile.

A local of one iteration, as a sum or a row of a table, ties the statements of a tile together: row after row, each sum
waits for itself. With an element, or a row, for each iteration of the tile's loops, which are few, these statements can be
in nests of their own, however many iterations there are in all tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from backends.deploy.nests import accessed
from dsl.programs.program import Array, Storage
from dsl.schedules.steps import Expand, Step
from polyhedral.requests.outside import word_bits
from polyhedral.schedule import tried
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.scheduled import Piece, ScheduledScop

_SHARE = 4
"""Of the memory that copies leave each local takes so small a part at most: partitions are rounded up, and others come
after it."""


def in_rows(
    state: ScheduledScop, names: Sequence[str], level: int, loops: int, room: int
) -> tuple[ScheduledScop, tuple[Step, ...], bool]:
    """The nest with its locals expanded along the loops of a tile, the outermost that they have room for; and whether
    there was room for all of them.

    Args:
        state: behind the copies of the tile.
        names: statements of the nest.
        level: loops around those of the tile.
        loops: of the tile.
        room: bits for locals.
    """
    steps: list[Step] = []
    every = True
    for array in state.scop.program.locals:
        pieces = [p for p in state.pieces if p.statement.touches(array.name)]
        if array.storage is not Storage.LOCAL or not _ties(pieces, names, level + loops):
            continue
        for at in range(level, level + loops):
            if all(_moves(piece, array.name, at) for piece in pieces):
                continue  # it has elements for these iterations already
            ref = f"{pieces[0].name}.{pieces[0].names[at]}"
            found = _expanded(state, array, Expand(array.name, ref))
            if found is not None and found[1] <= room // _SHARE:
                state, bits, step = found
                room -= bits
                steps.append(step)
                break
            every &= found is None
    return state, tuple(steps), every


def _ties(pieces: Sequence[Piece], names: Sequence[str], level: int) -> bool:
    """Whether statements of the nest alone use a local, and not all in the same loops behind those of the tile."""
    if len(pieces) < 2 or any(p.name not in names for p in pieces):
        return False
    shared = min(shared_levels(pieces[0], p) for p in pieces[1:])
    return shared >= level and any(len(p.dims) > shared for p in pieces)


def _moves(piece: Piece, array: str, level: int) -> bool:
    """Whether all that a statement accesses of a local moves with a loop."""
    values, loop = dict(piece.bindings), piece.names[level]
    return all(
        any(loop in index.substitute(values).variables() for index in access.indices)
        for access in accessed(piece)
        if access.array == array
    )


def _expanded(
    state: ScheduledScop, array: Array, step: Expand
) -> tuple[ScheduledScop, int, Step] | None:
    """The state with an expanded local, its bits, and the step; None where that is not legal, or one row is all there is."""
    made = tried(state, step)
    if made is None:
        return None
    known = {a.name for a in state.scop.program.arrays}
    (new,) = (a for a in made.scop.program.arrays if a.name not in known)
    bits = prod(new.shape) * word_bits(array.dtype)
    return (made, bits, step) if new.shape[0] > 1 else None
