"""Divisions by numbers without dividers: digits of a number, sums modulo a prime, averages of nine.

What waits for a quotient, as a sum modulo a number waits for the one before, waits for a state for each bit of it; for a comparison or a
product it waits for one or a few.
"""

from __future__ import annotations

from dsl.programs.inverses import has_dividers
from dsl.schedules.recurrence_steps import StrengthReduce
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop


def without_dividers(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with as few dividers as can be; as it is where it has none that can be done without.

    Args:
        state: the program as it is written.
        before: the steps that made it.
    """
    steps = before
    for name in [s.name for s in state.scop.statements if has_dividers(s.stmt.value)]:
        step = StrengthReduce(name)
        if (moved := tried(state, step)) is not None:
            state, steps = moved, (*steps, step)
    return state, steps
