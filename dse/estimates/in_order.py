"""What the open RTL backend makes of a dataflow region: it runs in order, and says so."""

from __future__ import annotations

from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Dataflow, Stream

NOTE = "dataflow is executed in order: the RTL backend runs one process after the other"


def in_order_notes(schedule: Schedule) -> tuple[str, ...]:
    """Notes for a schedule whose processes the RTL backend does not overlap; none for others."""
    if not any(isinstance(step, Dataflow) for step in schedule):
        return ()
    streams = sorted({step.array for step in schedule if isinstance(step, Stream)})
    if not streams:
        return (NOTE,)
    return (f"{NOTE}, and {', '.join(streams)} is memory, no FIFO",)
