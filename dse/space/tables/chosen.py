"""Conditions that cut a loop into ranges: choices in their place leave one loop, whose pipeline fills once.

``if i != k:`` around the update of an elimination is a loop up to the row of the pivot and one from there on. In one loop the
row is assigned what it has, and iterations behind would wait for that: of nests that read it there are copies
(`dse.space.tables.pivoted`).
"""

from __future__ import annotations

from math import prod

from dse.space.tables.pivoted import pivoted
from dsl.expressions.affine import cond_variables
from dsl.schedules.range_steps import IfConvert
from dsl.schedules.steps import Step
from polyhedral.schedule import tried
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import Statement

_TAPS = 25
"""Iterations of loops that a condition is of: 5 x 5 taps, but for the one in the middle."""


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
    """Whether its iterations have a gap that its loops have not, and these are no taps, which are written out: a number
    then decides.
    """
    moving = {v for cond in statement.conds for v in cond_variables(cond)}
    if (
        prod(_extent(statement, k) for k, v in enumerate(statement.variables) if v in moving)
        <= _TAPS
    ):
        return False
    parts, whole = (s.coalesce().n_basic_set() for s in (statement.domain, statement.loop_domain))
    return bool(parts > whole)


def _extent(statement: Statement, level: int) -> int:
    domain = statement.loop_domain
    ends = domain.dim_max_val(level), domain.dim_min_val(level)
    extent: int = ends[0].to_python() - ends[1].to_python() + 1
    return extent
