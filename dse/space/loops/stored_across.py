"""Tiles of a board without copies of what is written across the rows of what is read (`backends.deploy.word_stores`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backends.deploy.boards import Board
from backends.deploy.outside import in_tiles, outside
from backends.deploy.tiles import Allowance
from dse.space.loops.tiles import words_of
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Step


def stored_across(
    program: Program,
    plain: Schedule,
    tiles: Schedule | None,
    board: Board,
    allowed: Allowance,
    before: Sequence[Step] = (),
) -> Schedule | None:
    """The schedule with arrays outside, and tiles of what is read alone; None where nothing is written so, or arrays
    would be in other words.

    Args:
        program: the kernel.
        plain: what `backends.deploy.outside.outside` makes of it, without a schedule.
        tiles: what `backends.deploy.outside.in_tiles` does.
        board, allowed, before: as there.

    Raises:
        ToolError: as `outside`.
    """
    words = replace(allowed, words=True)
    for made, other in ((outside, plain), (in_tiles, tiles)):
        found = made(program, Schedule(), board, words, before)
        if found is not None and found != other and words_of(found) == words_of(plain):
            return found
    return None
