"""What is asked of arrays is of arrays that there are: steps that replace one come in front of what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Step
from polyhedral.scop.scheduled import ScheduledScop


def check_kept_arrays(before: ScheduledScop, after: ScheduledScop, step: Step) -> None:
    """Check that a step leaves the arrays of which something is asked.

    Raises:
        ScheduleError: W223 one of them is replaced.
    """
    if after.scop is before.scop:
        return
    known = {a.name for a in after.scop.program.arrays}
    for array, asked in _asked(after):
        if array in known:
            continue
        new = sorted(known - {a.name for a in before.scop.program.arrays})
        text = f"{asked.kind} is asked of '{array}', which {step.kind} replaces"
        behind = f", and ask it of '{new[0]}'" if len(new) == 1 else ""
        raise ScheduleError(
            "W223", text, span=step.span, help=f"put {asked.kind} behind {step.kind}{behind}"
        )


def _asked(state: ScheduledScop) -> Iterator[tuple[str, Step]]:
    """The arrays of which something is asked, with the steps that ask it."""
    steps = (
        state.partitions,
        state.auto_partitions,
        state.reshapes,
        state.storage,
        state.packs,
        state.streams,
    )
    yield from ((step.array, step) for kind in steps for step in kind)
    yield from ((step.argument, step) for step in state.interfaces)
