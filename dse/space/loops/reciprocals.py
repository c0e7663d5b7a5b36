"""Divisions by what a loop keeps, as products with a reciprocal: a factorisation, rows that are normalised.

A divider takes more logic than a multiplier and its quotient comes later. With products, all that is left of it is one division for each divisor,
which has nothing to wait for but that.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.programs.reciprocals import quotients
from dsl.schedules.recurrence_steps import Reciprocal
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop


def reciprocals(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with a reciprocal for each divisor that a loop keeps, of the outermost such loop; as it is where there is none.

    Args:
        state: the program as it is written.
        before: the steps that made it.
    """
    steps = before
    for name in [s.name for s in state.scop.statements]:
        while (found := _one(state, name)) is not None:
            state, steps = found[0], (*steps, found[1])
    return state, steps


def _one(state: ScheduledScop, name: str) -> tuple[ScheduledScop, Step] | None:
    """The program with one of a statement's divisors as a reciprocal."""
    for loop in _loops(state, name):
        moved = tried(state, step := Reciprocal(name, f"{name}.{loop}"))
        if moved is not None:
            return moved, step
    return None


def _loops(state: ScheduledScop, name: str) -> Iterator[str]:
    """Loops that may keep a divisor of a statement, outermost first."""
    s = state.scop.statement(name)
    found = [*quotients(state.scop.program, s.stmt)]
    for level, var in enumerate(s.variables):
        if any(var not in q.moving and q.scope <= level for q in found):
            yield var
