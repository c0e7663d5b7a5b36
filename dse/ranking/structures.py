"""What structures begin with, carried out once: the steps of ports, tiles and copies are the same in most of them, and
in all orders of the loops of a nest.
"""

from __future__ import annotations

from functools import lru_cache

from dsl.programs.program import Program
from dsl.schedules.steps import Step
from polyhedral.schedule import apply_step, begun
from polyhedral.scop.scheduled import ScheduledScop

_KEPT = 128


@lru_cache(maxsize=_KEPT)
def structure(program: Program, steps: tuple[Step, ...]) -> ScheduledScop:
    """The program under the first steps of a schedule.

    Raises:
        ScheduleError, LanguageError: as `polyhedral.schedule.begun`.
    """
    if not steps:
        return begun(program, ())
    return apply_step(structure(program, steps[:-1]), steps[-1])
