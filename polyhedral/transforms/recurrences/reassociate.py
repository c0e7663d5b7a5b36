"""``reassociate(stmt)``: allow the reduction of one statement to be done in any order.

For ``X[f] = X[f] op e`` it drops the order among the statement's own iterations, nothing else. On
floats the result may differ from the reference by rounding. On integers and fixed point it never
does: a reduction whose every step is cut (quantised, saturated) is refused.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import stored_value
from dsl.schedules.steps import Reassociate
from polyhedral.legality.associative import order_is_free
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.scop.scop import reduction_access
from polyhedral.transforms.registry import Order, transform


@transform(Reassociate, order=Order.KEPT)
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
    if not order_is_free(state.scop.program, statement.stmt, state.scop):
        target = state.scop.program.array(statement.stmt.target.array).dtype
        value = stored_value(statement.stmt.value)
        raise ScheduleError(
            "W209",
            f"{step.stmt} is not associative: each step cuts a {value.dtype} to {target}",
            span=step.span,
            help="accumulate in a type that holds every partial result",
        )
    return replace(state, reassociated=state.reassociated | {step.stmt})
