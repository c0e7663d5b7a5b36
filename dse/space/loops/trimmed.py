"""Tables that are filled with a constant of which little is read, as a diagonal, or two side by side.

``m: i32[60, 60] = 0`` is how a table is declared that a dynamic program fills from its border. What the program assigns itself
needs no value before, and each element that is filled takes a port of the bank that it is in.
"""

from __future__ import annotations

from math import prod

from dsl.expressions.expr import loads
from dsl.programs.program import Storage
from dsl.schedules.range_steps import Trim
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.ranges import whole_range
from polyhedral.scop.scheduled import ScheduledScop

_THIN = 4
"""Iterations for each that the loops would still have, at least: of a triangle they would vary, and save half; a row and a column
together are a condition in loops over the whole table.
"""


def trimmed(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program without most of what such loops assign, where little of it is read.

    Args:
        state: the program as it is written.
        before: the steps that made it.
    """
    steps = before
    for statement in state.scop.statements:
        array = state.scop.program.array(statement.stmt.target.array)
        fills = not loads(statement.stmt.value) and array.storage is Storage.LOCAL and array.shape
        if not fills or not statement.loops:
            continue
        moved = tried(state, step := Trim(statement.name))
        if moved is not None and _THIN * _size(moved, step.stmt) <= _size(state, step.stmt):
            state, steps = moved, (*steps, step)
    return state, steps


def _size(state: ScheduledScop, name: str) -> int:
    """The product of the longest that each loop of a statement is."""
    ranges = [
        whole_range([(piece, level)])
        for piece in state.of_statement(name)
        for level in range(len(piece.dims))
    ]
    return prod(found.extent if found is not None else 1 for found in ranges)
