"""Tables at subscripts that are data, on a board: as many copies of each as a word has elements that look it up.

A port brings several elements in a cycle, and all of them ask the two ports of one memory, as no partition tells
elements apart whose subscripts are values. Of copies (`dse.space.tables.replicas`) each serves its own elements of a word; they are
filled once, in front of all tiles, and the innermost loop of a tile, whose elements are in one word, takes turns at them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from backends.deploy.boards import Board
from backends.deploy.outside import in_tiles, outside
from backends.deploy.rooms import chip_room, most_room
from backends.deploy.tiles import Allowance
from dse.space.loops.tiles import cuts_in_tiles, lanes_of, words_of
from dse.space.tables.replicas import look_ups
from dsl.expressions.expr import loads
from dsl.programs.program import Program
from dsl.programs.replicated import turns_of
from dsl.schedules.port_steps import Replicate
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Step
from polyhedral.requests.outside import word_bits
from polyhedral.schedule import begun, tried
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.arrays.replicate import MOST, loop_around

_SHARE = 2
"""So small a part of the room for copies is at most for those of tables."""


def in_copies_of_tables(
    program: Program,
    plain: Schedule,
    board: Board,
    allowed: Allowance,
    before: Sequence[Step] = (),
) -> Schedule | None:
    """The schedule with arrays outside, tiles, and copies of the tables that are looked up; None where there are no
    such tables, or arrays would be in other words.

    Args:
        program: the kernel.
        plain: what `backends.deploy.outside.outside` makes of it, without a schedule.
        board, allowed, before: as there.

    Raises:
        ToolError: as `outside`.
    """
    state = begun(program, before)
    lanes = lanes_of(program, plain)
    room = most = most_room(board) // _SHARE
    asked: list[tuple[Replicate, str]] = []
    for array, name in look_ups(state).items():
        step = _copies(state, array, name, lanes, room)
        moved = None if step is None else tried(state, step)
        if step is not None and moved is not None:
            state = moved
            room -= step.count * _bits(state, array)
            asked.append((step, name))
    if not asked:
        return None
    left = (chip_room(board) - (most - room)) / chip_room(board)
    narrow = replace(allowed, room=allowed.room * left)
    copies = [step for step, _ in asked]
    turns = [(name, step.loop.rpartition(".")[2], step.count) for step, name in asked]
    # On a card what fits as a whole is in tiles, too.
    plans = [
        made(program, Schedule(), board, narrow, (*before, *copies)) for made in (outside, in_tiles)
    ]
    found = [plan for plan in plans if plan is not None and words_of(plan) == words_of(plain)]
    if not found:
        return None
    best = max(found, key=lambda plan: any(isinstance(step, Buffer) and step.at for step in plan))
    return Schedule((*best, *cuts_in_tiles(program, best, turns)))


def _copies(
    state: ScheduledScop, array: str, name: str, lanes: Mapping[str, int], room: int
) -> Replicate | None:
    """Copies for the reads of a word's elements, as many as there is room for; None where there is no word of several."""
    statement = state.scop.statement(name)
    loop = loop_around(state.scop.program, name, len(statement.loops) - 1)
    moving = {
        access.array
        for access in (*loads(statement.stmt.value), statement.stmt.target)
        if access.array != array and any(loop.var in e.variables() for e in access.indices)
    }
    words = min((lanes[one] for one in moving), default=1)
    count = min(MOST, words * turns_of(loop, array).count)
    while count > 1 and count * _bits(state, array) > room:
        count //= 2
    return Replicate(array, f"{name}.{loop.var}", count) if count > 1 else None


def _bits(state: ScheduledScop, name: str) -> int:
    array = state.scop.program.array(name)
    return prod(array.shape) * word_bits(array.dtype)
