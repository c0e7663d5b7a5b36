"""Nests that hand each other one element after the other as processes, with FIFOs between them.

A filter behind another one reads what that one writes in the same order: with line buffers of its own it can begin
with the first element, and the image between them is nowhere as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import loads
from dsl.schedules.steps import Dataflow, Step, Stream
from polyhedral.requests.complete import check_complete
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop


def in_processes(
    state: ScheduledScop,
) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The nests at the same time, and the steps that make them so; None where one of the arrays between them
    cannot be a FIFO, or there are none.

    Args:
        state: in which it is said what becomes of the loops.
    """
    between = handed_on(state)
    if not between or state.dataflow is not None:
        return None
    steps: list[Step] = [Dataflow(), *map(Stream, between)]
    moved = tried(state, *steps)
    if moved is None:
        return None
    try:
        check_complete(moved)
    except ScheduleError:
        return None
    return moved, tuple(steps)


def handed_on(state: ScheduledScop) -> Sequence[str]:
    """The locals that one nest writes and another one reads."""
    users: dict[str, set[int]] = {}
    for piece in state.pieces:
        stmt = piece.statement.stmt
        for access in (stmt.target, *loads(stmt.value)):
            users.setdefault(access.array, set()).add(piece.place[0])
    return [a.name for a in state.scop.program.locals if len(users.get(a.name, ())) > 1]
