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
from polyhedral.scop.scop import common_loops


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
    """Loops whose variable says a row or column of an array that a nest inside of them assigns and reads."""
    statements = state.scop.statements
    for s in statements:
        for access in dict.fromkeys(loads(s.stmt.value)):
            for writer in statements:
                if writer.stmt.target.array != access.array:
                    continue
                pairs = zip(writer.stmt.target.indices, access.indices, strict=True)
                other = [its for mine, its in pairs if mine != its and mine.variables()]
                for level in range(common_loops(s, writer)):
                    var = s.loops[level].var
                    if any(var in its.variables() for its in other) and len(s.loops) > level + 1:
                        yield f"{s.name}.{var}"
