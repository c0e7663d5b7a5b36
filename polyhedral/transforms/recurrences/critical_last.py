"""``critical_last(stmt)``: terms from the nearest iterations are added last.

Before::

    out = b0 * x[n] + b1 * x1 - a1 * y1 - a2 * y2         # S0; y1 is the last value of out, y2 the one before that

After ``critical_last("S0")``::

    out = b0 * x[n] + b1 * x1 - a2 * y2 - a1 * y1         # S0

From ``y1`` to ``out`` there are a product and one difference now. Terms that come from as far stay in their order. Sums of
floats are rounded otherwise then, which the step allows as `reassociate` does; sums of integers are for the tool, which
is free to order them. The order is found from which write each read sees (`polyhedral.legality.nearest`).
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.expressions.float_sums import Terms, summed, terms_of
from dsl.programs.program import Program, Stmt, map_statements
from dsl.schedules.recurrence_steps import CriticalLast
from polyhedral.legality.nearest import nearest
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import ScheduledScop, is_as_written, original
from polyhedral.scop.scop import Scop
from polyhedral.transforms.registry import Order, transform


@transform(CriticalLast, order=Order.KEPT)
def critical_last(state: ScheduledScop, step: CriticalLast) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W237 the terms stay as they are, or the step comes too late.
    """
    find_statement(state, step.stmt, step)
    if not is_as_written(state):
        raise _refused(
            step,
            "critical_last comes after steps that change loops",
            "put it in front of all steps that move, cut, annotate or regroup loops",
        )
    stmt = state.scop.statement(step.stmt).stmt
    terms = terms_of(stmt.value)
    if len(terms) < 2:
        raise _refused(step, f"{step.stmt} is no sum of floats")
    ordered = in_order(state.scop, step.stmt, terms)
    if ordered == terms:
        raise _refused(
            step, f"no term of {step.stmt} comes from a nearer iteration than those behind it"
        )
    value = summed(ordered, stmt.value)
    scop = check_program(with_value(state.scop.program, replace(stmt, value=value)))
    free = state.reassociated - {step.stmt}
    return replace(state, scop=scop, pieces=original(scop).pieces, reassociated=free)


def _refused(step: CriticalLast, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W237", text, span=step.span, help=help_)


def in_order(scop: Scop, name: str, terms: Terms) -> Terms:
    """The terms, what comes from the nearest iterations last; the first one is added."""
    s = scop.statement(name)
    if not s.loops:
        return terms
    far = nearest(scop, s, [term for _, term in terms])
    order = sorted(range(len(terms)), key=lambda k: -far[k])
    first = next((k for k in order if terms[k][0]), None)
    if first is None:
        return terms
    order.remove(first)
    return tuple(terms[k] for k in (first, *order))


def with_value(program: Program, stmt: Stmt) -> Program:
    """The program with another statement of this name."""

    def new(old: Stmt) -> Stmt:
        return stmt if old.name == stmt.name else old

    return replace(program, body=tuple(map_statements(node, new) for node in program.body))
