"""Nests that update an array with its own pivot row and column: copies of these, so that no iteration waits for another one.

All shortest paths and transitive closures are such nests. No order of their loops, skewed or not, has an inner
loop without dependences, where the update is not known to leave the row and column what they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from dsl.expressions.expr import loads
from dsl.schedules.recurrence_steps import Pivot
from dsl.schedules.steps import Step
from polyhedral.dependences.direct import array_flows
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
        moved = tried(state, step := Pivot(loop)) if _waits(state, loop) else None
        if moved is not None:
            state, steps = moved, (*steps, step)
    return state, steps


def _waits(state: ScheduledScop, ref: str) -> bool:
    """Whether an iteration of a nest in a loop needs what another one of the same nest has made."""
    name, _, var = ref.partition(".")
    around = state.scop.statement(name)
    level = around.variables.index(var)
    own = [
        s for s in state.scop.statements if s.loop_ids[: level + 1] == around.loop_ids[: level + 1]
    ]
    written = dict.fromkeys(s.stmt.target.array for s in own)
    for array in written:
        if state.scop.program.array(array).scope_depth > level + 1:
            continue
        for flow in array_flows(state.scop, array):
            if flow.source not in own or flow.sink not in own:
                continue
            outer, inner = flow.ranges[: level + 1], flow.ranges[level + 1 :]
            if all(_has_zero(*ends) for ends in outer) and any(ends != (0, 0) for ends in inner):
                return True
    return False


def _has_zero(low: int | None, high: int | None) -> bool:
    return (low is None or low <= 0) and (high is None or high >= 0)


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
