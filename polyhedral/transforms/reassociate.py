"""``reassociate(stmt)``: allow the reduction of one statement to be done in any order.

For ``X[f] = X[f] op e`` it drops the order among the statement's own iterations, nothing else. On
floats the result may differ from the reference by rounding; integers wrap, so they never do.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors import ScheduleError
from dsl.steps import Reassociate
from polyhedral.lookup import find_statement
from polyhedral.scheduled import ScheduledScop
from polyhedral.scop import reduction_access


def reassociate(state: ScheduledScop, step: Reassociate) -> ScheduledScop:
    """Mark the statement; W209 if it is not a reduction."""
    find_statement(state, step.stmt, step)
    statement = state.scop.statement(step.stmt)
    if reduction_access(statement) is None:
        raise ScheduleError(
            "W209",
            f"{step.stmt} is not a reduction",
            span=step.span,
            notes=[f"{step.stmt}: {statement.stmt.source}"] if statement.stmt.source else (),
            help="a reduction is X[f] = X[f] op e, op one of + * - min max & | ^, no X in e",
        )
    return replace(state, reassociated=state.reassociated | {step.stmt})
