"""Nests that update an array with its own pivot row and column: copies of these, so that no iteration waits for another one.

All shortest paths and transitive closures are such nests. No order of their loops, skewed or not, has an inner
loop without dependences, where the update is not known to leave the row and column what they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.expressions.expr import Load, loads
from dsl.schedules.recurrence_steps import Pivot
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop


def pivoted(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program with copies of the pivots of all such nests; as it is where there is none.

    Args:
        state: the program as it is written.
        before: the steps that made it.
    """
    steps = before
    for loop in dict.fromkeys(_loops(state)):
        moved = tried(state, step := Pivot(loop))
        if moved is not None and _waits(state, moved):
            state, steps = moved, (*steps, step)
    return state, steps


def _waits(before: ScheduledScop, after: ScheduledScop) -> bool:
    """Whether a nest needs a row or column as it is behind its own update: else its iterations do not wait as it is."""
    known = {s.name for s in before.scop.statements}
    added = [s.stmt for s in after.scop.statements if s.name not in known]
    return any(not isinstance(stmt.value, Load) for stmt in added)


def _loops(state: ScheduledScop) -> Iterator[str]:
    """Loops around others whose variable says an element, in its row or column, that a statement reads of what it updates."""
    for s in state.scop.statements:
        target = s.stmt.target
        reads = [a for a in loads(s.stmt.value) if a.array == target.array]
        for level, loop in enumerate(s.loops[:-1]):
            inner = {other.var for other in s.loops[level + 1 :]}
            for read in reads:
                pairs = [p for p in zip(target.indices, read.indices, strict=True) if p[0] != p[1]]
                at_pivot = all(
                    mine.variables() & inner and not its.is_data and not its.variables() & inner
                    for mine, its in pairs
                )
                if pairs and at_pivot and any(loop.var in e.variables() for _, e in pairs):
                    yield f"{s.name}.{loop.var}"
