"""Where choices are made again and again in a loop: searches for the iteration that makes the last one.

What a search for an index or the first match hands from one iteration to the next is a choice, of which no
tool makes a tree. Positions are compared in any order, like the terms of a sum.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.expressions.expr import Load, Select
from dsl.programs.program import Stmt
from dsl.schedules.recurrence_steps import Locate
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop


def located(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with each such choice as a search through as many loops as is legal; as it is where there is none.

    Args:
        state: the program as it is written.
        before: the steps that made it.
    """
    steps = before
    for name in [s.name for s in state.scop.statements if _chooses(s.stmt)]:
        for step in _steps(state, name):
            moved = tried(state, step)
            if moved is not None:
                state, steps = moved, (*steps, step)
                break
    return state, steps


def _chooses(stmt: Stmt) -> bool:
    """Whether a statement assigns a value or what its element was."""
    value = stmt.value
    return (
        isinstance(value, Select)
        and isinstance(value.orelse, Load)
        and value.orelse.access == stmt.target
    )


def _steps(state: ScheduledScop, name: str) -> Iterator[Locate]:
    """The searches through all loops, through the inner ones, and so on."""
    for piece in state.of_statement(name)[:1]:
        for dim in piece.dims:
            yield Locate(name, f"{name}.{dim.name}")
