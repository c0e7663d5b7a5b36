"""Conditions that cut a loop into ranges: choices in their place leave one loop, whose pipeline fills once.

``if i != k:`` around the update of an elimination is a loop up to the row of the pivot and one from there on. In one loop the
row is assigned what it has, and iterations behind would wait for that: of nests that read it there are copies
(`dse.space.tables.pivoted`).
"""

from __future__ import annotations

from dse.space.tables.pivoted import pivoted
from dsl.schedules.range_steps import IfConvert
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import Statement


def chosen(
    state: ScheduledScop, before: tuple[Step, ...]
) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The program without such conditions; as it is where there are none.

    Args:
        state: the program as it is written.
        before: the steps that made it.
    """
    steps = before
    while (found := _next(state)) is not None:
        state, step = found
        steps = (*steps, step)
    return (state, before) if steps == before else pivoted(state, steps)


def _next(state: ScheduledScop) -> tuple[ScheduledScop, Step] | None:
    for statement in state.scop.statements:
        if _is_cut(statement):
            moved = tried(state, step := IfConvert(statement.name))
            if moved is not None:
                return moved, step
    return None


def _is_cut(statement: Statement) -> bool:
    """Whether its iterations have a gap, which its loops have not."""
    if not statement.conds:
        return False
    parts, whole = (s.coalesce().n_basic_set() for s in (statement.domain, statement.loop_domain))
    return bool(parts > whole)
