"""Arrays of several elements a word: are they memories that are read by address, and is nothing else to choose banks?"""

from __future__ import annotations

from dsl.errors.errors import ScheduleError
from dsl.schedules.pragma_steps import Reshape
from polyhedral.requests.tool_words import MEMORY_MODES
from polyhedral.scop.scheduled import ScheduledScop


def check_reshaped(state: ScheduledScop) -> None:
    """What `Reshape` needs of the schedule as a whole.

    Raises:
        ScheduleError: W215 an array that is outside, or whose elements come one by one; W223 one of which the
            banks are to follow from single elements (`AutoPartition`).
    """
    for step in state.reshapes:
        for asked in state.interfaces:
            if asked.argument == step.array and asked.mode not in MEMORY_MODES:
                raise _no_memory(step, f"behind {asked.mode}")
        if any(s.array == step.array for s in state.streams):
            raise _no_memory(step, "a stream")
        if any(a.array == step.array for a in state.auto_partitions):
            raise ScheduleError(
                "W223",
                f"'{step.array}' is in words of several elements, and its banks are to follow from single ones",
                span=step.span,
                help=f'partition("{step.array}", …) says which other dimensions are in banks',
            )


def _no_memory(step: Reshape, why: str) -> ScheduleError:
    outside = why == "behind m_axi"
    return ScheduleError(
        "W215",
        f"'{step.array}' is {why}, so it has no words of several elements",
        span=step.span,
        help=f'pack("{step.array}", bits) puts several elements into a word there, or buffer("{step.array}") '
        "copies it: reshape the copy"
        if outside
        else f"leave it out, or choose {' or '.join(MEMORY_MODES)} for it",
    )
