"""Where values of a running sum are used: blocks of iterations, each summed up by itself.

What `run += x[i]` hands from one iteration to the next is a sum, and where others read it in between, no partial
sums take its place. In blocks, a block waits for the one before for one operation.
"""

from __future__ import annotations

from dsl.expressions.expr import Binary
from dsl.expressions.types import FloatType
from dsl.schedules.recurrence_steps import Scan
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import Scop, Statement, common_loops

FACTORS = (4, 8, 16, 32)
"""Iterations of a block."""


def scanned(
    state: ScheduledScop, before: tuple[Step, ...], factor: int, floats: bool
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with each running sum in blocks where that is legal; as it is where there is none.

    Args:
        state: the program as it is written.
        before: the steps that made it.
        factor: iterations of a block.
        floats: whether sums of floats may round otherwise.
    """
    steps = before
    for statement in state.scop.statements:
        exact = not isinstance(statement.stmt.value.dtype, FloatType)
        if not (exact or floats) or not isinstance(statement.stmt.value, Binary):
            continue
        if not statement.loops or not _is_used(state.scop, statement):
            continue
        step = Scan(statement.name, f"{statement.name}.{statement.loops[-1].var}", factor)
        moved = tried(state, step)
        if moved is not None:
            state, steps = moved, (*steps, step)
    return state, steps


def _is_used(scop: Scop, mine: Statement) -> bool:
    """Whether values in between are: others in its loop read them, or each has an element of its own."""
    depth, target = len(mine.loops), mine.stmt.target
    if any(mine.loops[-1].var in index.variables() for index in target.indices):
        return True
    return any(
        other is not mine and common_loops(mine, other) == depth and other.touches(target.array)
        for other in scop.statements
    )
