"""Updates of elements that are data, as of a histogram, and extrema of all that a program reads, in tiles of a board: parts,
added up behind all tiles.

A port brings several elements in a cycle, and each may update the element that the one before it has updated, so that
tiles are worked on an element a cycle, or slower. With parts of the table as many elements go on at once: so many for each
element of a word that a part is back from its memory when its turn comes again. They take turns along the innermost loop,
whose elements are in one word, and are added up once, behind the outermost loop that the element does not move with.

The least or the largest of all elements is in the same place: no tool makes a tree of comparisons, as it does of sums, and each
copy waits for the one before it, whatever a port brings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from backends.deploy.boards import Board
from backends.deploy.outside import in_tiles, outside
from backends.deploy.rooms import chip_room, most_room
from backends.deploy.tiles import Allowance
from dse.space.loops.regrouped import reassociated
from dse.space.loops.tiles import cuts_in_tiles, lanes_of, words_of
from dsl.expressions.expr import Access, Binary, BinaryOp, Scatter, loads
from dsl.expressions.types import FloatType
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, PartialSums, Step
from polyhedral.requests.outside import word_bits
from polyhedral.schedule import begun, tried
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import Statement, reduction_access

_STATES = 4
_FLOAT_STATES = 8
"""States in which an element is read, updated and written, rounded up to a power of two: of integers and of floats."""
_MOST = 256  # parts: those of the elements of a word of 512 bits of bytes
_AROUND = 2  # loops of an extremum, at least
_SHARE = 2
_TILES = 4
"""So small a part of the room for copies is at most for tables in parts, and of what is left for tiles."""


def in_parts_of_tables(
    program: Program,
    plain: Schedule,
    board: Board,
    allowed: Allowance,
    before: Sequence[Step] = (),
) -> Schedule | None:
    """The schedule with arrays outside, tiles, and parts of the tables that are updated at subscripts which are data, and of
    extrema; None where there are no tiles or no such updates, or arrays would be in other words.

    Args:
        program: the kernel.
        plain: what `backends.deploy.outside.outside` makes of it, without a schedule.
        board, allowed, before: as there.

    Raises:
        ToolError: as `outside`.
    """
    state, free = reassociated(begun(program, before), floats=allowed.trees)
    lanes = lanes_of(program, plain)
    room = most = most_room(board) // _SHARE
    parts: list[PartialSums] = []
    for statement in state.scop.statements:
        step = _parts(state, statement, lanes, room)
        moved = None if step is None else tried(state, step)
        if step is not None and moved is not None:
            state = moved
            room -= step.count * _bits(state, statement.stmt.target)
            parts.append(step)
    if not parts:
        return None
    turns = [(step.stmt, step.loop.rpartition(".")[2], step.count) for step in parts]
    # What is copied is in as many banks as there are parts, each of which is rounded up to whole memories, and is there
    # twice where tiles are copied while others are worked on.
    taken = most - room
    left = (most_room(board) - taken) // _TILES
    narrow = replace(allowed, room=allowed.room * (taken + left) / chip_room(board))
    # On a card what fits as a whole is in tiles, too.
    for made in (outside, in_tiles):
        found = made(program, Schedule(), board, narrow, (*before, *free, *parts))
        if found is None or words_of(found) != words_of(plain):
            continue
        if any(isinstance(step, Buffer) and step.at for step in found):
            return Schedule((*found, *cuts_in_tiles(program, found, turns)))
    return None


def _parts(
    state: ScheduledScop, statement: Statement, lanes: Mapping[str, int], room: int
) -> PartialSums | None:
    """Parts of what a statement updates, as many as there is room for; None where it is no element that is data, or all
    loops move it, and no extremum of all iterations.
    """
    stmt = statement.stmt
    if statement.name not in state.reassociated:
        return None
    if not isinstance(stmt.value, Scatter) and not _is_extremum(statement):
        return None
    moving = {v for e in stmt.target.indices if not e.is_data for v in e.variables()}
    still = [loop.var for loop in statement.loops if loop.var not in moving]
    if not still:
        return None
    turns = still[-1]
    read = [e.array for e in loads(stmt.value) if turns in _variables(e)]
    words = min((lanes[array] for array in read if array != stmt.target.array), default=1)
    floats = isinstance(state.scop.program.array(stmt.target.array).dtype, FloatType)
    count = min(_MOST, words * (_FLOAT_STATES if floats else _STATES))
    while count > 1 and count * _bits(state, stmt.target) > room:
        count //= 2
    ref, around = f"{statement.name}.{turns}", f"{statement.name}.{still[0]}"
    return PartialSums(statement.name, ref, count, around=around) if count > 1 else None


def _is_extremum(statement: Statement) -> bool:
    """Whether it is the least or the largest of all its iterations: those of rows go on side by side, and an array of one
    dimension has few ports, so that what copies wait for one another is little beside copying.
    """
    stmt = statement.stmt
    if len(statement.loops) < _AROUND:
        return False
    if not isinstance(stmt.value, Binary) or stmt.value.op not in (BinaryOp.MIN, BinaryOp.MAX):
        return False
    return reduction_access(statement) is not None and not _variables(stmt.target)


def _variables(access: Access) -> set[str]:
    return {v for index in access.indices for v in index.variables()}


def _bits(state: ScheduledScop, target: Access) -> int:
    array = state.scop.program.array(target.array)
    return prod(array.shape) * word_bits(array.dtype)
