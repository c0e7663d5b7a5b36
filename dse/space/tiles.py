"""Tiles of a board in which statements that share a scalar are nests of their own.

What a sum in a scalar ties together is one imperfect nest in a tile: each sum of floats waits for itself, row after row.
With an element for each row (`dse.space.expansion`) rows take turns, and each statement has loops that can be in any
order. A tile's loops are cut after that, as locals are only expanded in front of all steps that change loops.
"""

from __future__ import annotations

from collections.abc import Sequence

from backends.deploy.boards import Board
from backends.deploy.outside import outside
from backends.deploy.tiles import Allowance
from dse.space.expansion import expanded
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Distribute, Expand, Pack, Step, Tile
from polyhedral.schedule import begun


def in_wider_tiles(
    program: Program, plain: Schedule, board: Board, allowed: Allowance
) -> Schedule | None:
    """The schedule with arrays outside, tiles, and locals with an element for each iteration; None where there are no
    tiles, or nothing is told apart by that, or arrays would be in other words.

    Args:
        program: the kernel.
        plain: what `backends.deploy.outside.outside` makes of it, without a schedule.
        board, allowed: as there.

    Raises:
        ToolError: as `outside`.
    """
    if not any(isinstance(step, Buffer) and step.at for step in plain):
        return None
    ways = (steps for _, steps in expanded(begun(program, ()), ()))
    before = [step for step in next(ways, ()) if isinstance(step, Expand)]
    if not before:
        return None
    found = outside(program, Schedule(), board, allowed, before)
    words = [[step for step in one if isinstance(step, Pack)] for one in (plain, found)]
    return found if words[0] == words[1] and _told_apart(found.steps) else None


def _told_apart(steps: Sequence[Step]) -> bool:
    """Whether statements are in nests of their own behind the tiles."""
    cuts = [n for n, step in enumerate(steps) if isinstance(step, Tile)]
    return any(isinstance(step, Distribute) for step in steps[cuts[0] :]) if cuts else False
