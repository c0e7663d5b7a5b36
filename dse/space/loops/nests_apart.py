"""Tiles of a board for each statement by itself, where sums of floats in locals wait for themselves.

A sum over a large array in a scalar, as the mean of a channel, is in a tile with all that is made of it, and the array passes
once; as many sums go on at a time as there are channels in a tile. Where their terms are added in order, that is too few.
With an element for each channel (`dse.space.loops.expansion`) and statements in nests of their own each nest has tiles of
other loops: those of parts of all channels, whose sums take turns; the array passes once for each nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from backends.deploy.boards import Board
from backends.deploy.nests import LONG, chains_of, inner_loops, nests_of
from backends.deploy.outside import outside
from backends.deploy.tiles import Allowance
from dse.space.loops.expansion import expanded
from dse.space.loops.regrouped import distributed
from dse.space.loops.tiles import words_of
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Step
from polyhedral.schedule import begun
from polyhedral.scop.scheduled import ScheduledScop


def in_nests_apart(
    program: Program,
    plain: Schedule,
    board: Board,
    allowed: Allowance,
    before: Sequence[Step] = (),
) -> Schedule | None:
    """The schedule with arrays outside, and statements in tiles of their own; None where sums may be added in any order,
    none of them is long, or nothing is told apart by that.

    Args:
        program: the kernel.
        plain: what `backends.deploy.outside.outside` makes of it, without a schedule.
        board, allowed, before: as there.

    Raises:
        ToolError: as `outside`.
    """
    tiled = any(isinstance(step, Buffer) and step.at for step in plain)
    state = begun(program, before)
    if allowed.trees or not tiled or not _waits(state):
        return None
    for wide, steps in expanded(state, ()):
        _, apart = distributed(wide)
        if apart:
            found = outside(program, Schedule(), board, allowed, (*before, *steps, *apart))
            return found if words_of(found) == words_of(plain) else None
    return None


def _waits(state: ScheduledScop) -> bool:
    """Whether a sum of floats in a local goes over more terms than are unrolled."""
    program = state.scop.program
    local = {array.name for array in program.locals}
    for nest in nests_of(state):
        extents = {**dict(inner_loops(nest)), **dict(zip(nest.loops, nest.extents, strict=True))}
        for piece in nest.pieces:
            if piece.statement.stmt.target.array not in local:
                continue
            own = replace(nest, pieces=(piece,))
            for chain in chains_of(own, program, rows=True):
                if prod(extents.get(name, 1) for name in chain) > LONG:
                    return True
    return False
