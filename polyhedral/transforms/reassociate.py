"""``reassociate(stmt)``: allow the reduction of one statement to be done in any order.

For ``X[f] = X[f] op e`` it drops the order among the statement's own iterations, nothing else. On
floats the result may differ from the reference by rounding. On integers and fixed point it never
does: a reduction whose every step is cut (quantised, saturated) is refused.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Binary, BinaryOp, Expr, stored_value
from dsl.expressions.types import DType, FixedType, FloatType, Overflow
from dsl.schedules.steps import Reassociate
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
    target = state.scop.program.array(statement.stmt.target.array).dtype
    value = stored_value(statement.stmt.value)
    if not _associative(value, target):
        raise ScheduleError(
            "W209",
            f"{step.stmt} is not associative: each step cuts a {value.dtype} to {target}",
            span=step.span,
            help="accumulate in a type that holds every partial result",
        )
    return replace(state, reassociated=state.reassociated | {step.stmt})


def _associative(value: Expr, target: DType) -> bool:
    """Whether storing every partial result keeps the reduction independent of its order."""
    if not isinstance(value, Binary) or isinstance(target, FloatType):
        return True  # rounding of floats is what the user allows with this step
    if value.op in (BinaryOp.MIN, BinaryOp.MAX):
        return value.dtype == target
    if isinstance(target, FixedType) and target.overflow is not Overflow.WRAP:
        return False
    # Modulo 2^n, sums, products and bitwise operators are; but no bit may be lost on the right.
    return _fraction(value.dtype) <= _fraction(target)


def _fraction(dtype: DType) -> int:
    return dtype.frac if isinstance(dtype, FixedType) else 0
