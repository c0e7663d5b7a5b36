"""Steps that may be refused: the space is what is legal."""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Step
from polyhedral.schedule import apply_step
from polyhedral.scop.scheduled import ScheduledScop


def tried(state: ScheduledScop, *steps: Step) -> ScheduledScop | None:
    """The state after some steps; None where one of them is refused."""
    try:
        for step in steps:
            state = apply_step(state, step)
    except ScheduleError:
        return None
    return state
