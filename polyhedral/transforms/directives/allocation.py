"""``allocation(loop, op, limit)``: how many units of an operator a loop has at the most.

The program stays as it is. Operations that want more units at once wait for each other: a pipeline of n of them has an
interval of ``ceil(n / limit)`` or more (UG1399, pragma HLS allocation).
"""

from __future__ import annotations

from dsl.errors.errors import ScheduleError, did_you_mean
from dsl.schedules.loop_requests import LoopRequests
from dsl.schedules.pragma_steps import Allocation
from polyhedral.requests.repeated import contradiction
from polyhedral.requests.tool_words import OPERATORS, operators_of
from polyhedral.scop.lookup import dim_of, find_loop, with_loop
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, transform
from polyhedral.transforms.requesting import requested


@transform(Allocation, order=Order.KEPT)
def allocation(state: ScheduledScop, step: Allocation) -> ScheduledScop:
    """Annotate the loop, in all its copies.

    Raises:
        ScheduleError: W207 no unit at all; W215 no operator is called so; W223 another limit of it was asked for; W224
            no statement in the loop has it.
    """
    if step.limit < 1:
        raise ScheduleError("W207", f"the limit is {step.limit}, not at least 1", span=step.span)
    if step.op not in OPERATORS:
        raise ScheduleError(
            "W215",
            f"no operator is called '{step.op}'",
            span=step.span,
            help=did_you_mean(step.op, OPERATORS),
        )
    members = with_loop(state, find_loop(state, step.loop, step))
    there = dict.fromkeys(op for p, _ in members for op in operators_of(p.statement.stmt.value))
    if step.op not in there:
        raise ScheduleError(
            "W224",
            f"nothing in '{step.loop}' has the operator {step.op}",
            span=step.span,
            help=f"its operators are {', '.join(there)}" if there else "it has none to be limited",
        )
    known = dict(dim_of(members).requests.allocation)
    if known.get(step.op, step.limit) != step.limit:
        asked = f"a limit of {known[step.op]}"
        raise contradiction(step, f"the {step.op} of '{step.loop}'", asked)
    every = tuple((known | {step.op: step.limit}).items())
    return requested(state, step.loop, step, lambda r: None, LoopRequests(allocation=every))
