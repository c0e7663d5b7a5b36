"""``critical_last(stmt)``: terms from the nearest iterations are added last.

Before::

    out = b0 * x[n] + b1 * x1 - a1 * y1 - a2 * y2         # S0; y1 is the last value of out, y2 the one before that

After ``critical_last("S0")``::

    out = b0 * x[n] + b1 * x1 - a2 * y2 - a1 * y1         # S0

Before, with borders::

    acc = b0 * x[n]                                       # S0
    if n >= 1: acc += b1 * x[n - 1] - a1 * y[n - 1]       # S1
    if n >= 2: acc += b2 * x[n - 2] - a2 * y[n - 2]       # S2
    y[n] = acc                                            # S3

After ``critical_last("S1")``, which is an update of the element that those behind it update, too::

    acc = b0 * x[n]                                       # S0
    if n >= 2: acc += b2 * x[n - 2] - a2 * y[n - 2]       # S2
    if n >= 1: acc = b1 * x[n - 1] + acc - a1 * y[n - 1]  # S1
    y[n] = acc                                            # S3

An update may be alone in loops that its element does not move with: of ::

    for i in range(N):
      t = b[i]                                            # S0
      for j in range(i):        t -= A[i, j] * x[j]       # S1
      for j in range(i + 1, N): t -= A[i, j] * x[j]       # S2
      x[i] = t / A[i, i]                                  # S3

``critical_last("S1")`` puts the loop of S1 behind that of S2, which reads nothing that these iterations assign.

From ``y1`` to ``out`` there are a product and one difference now. Terms that come from as far stay in their order. Sums of
floats are rounded otherwise then, which the step allows as `reassociate` does; sums of integers are for the tool, which
is free to order them. The order is found from which write each read sees (`polyhedral.legality.nearest`).
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Expr, Load
from dsl.expressions.float_sums import Terms, summed, terms_of
from dsl.programs.program import Program, Stmt, map_statements
from dsl.programs.updates_in_line import line_of, loops_around, put_behind, same_element
from dsl.schedules.recurrence_steps import CriticalLast
from polyhedral.legality.nearest import nearest
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.scop.scop import Scop
from polyhedral.transforms.registry import Order, transform


@transform(CriticalLast, order=Order.KEPT, too_late="W237")
def critical_last(state: ScheduledScop, step: CriticalLast) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W237 the terms stay as they are, or the step comes too late.
    """
    find_statement(state, step.stmt, step)
    terms = terms_of(state.scop.statement(step.stmt).stmt.value)
    if len(terms) < 2:
        raise _refused(step, f"{step.stmt} is no sum of floats")
    scop = _behind_others(state.scop, step.stmt)
    ordered = in_order(scop, step.stmt, terms)
    if ordered != terms:
        stmt = scop.statement(step.stmt).stmt
        value = summed(ordered, stmt.value)
        scop = check_program(with_value(scop.program, replace(stmt, value=value)))
    if scop is state.scop:
        raise _refused(
            step, f"no term of {step.stmt} comes from a nearer iteration than those behind it"
        )
    free = state.reassociated - {step.stmt}
    return replace(state, scop=scop, pieces=original(scop).pieces, reassociated=free)


def _behind_others(scop: Scop, name: str) -> Scop:
    """The program with an update behind those that follow it of its element, if what these add comes from further away."""
    level = loops_around(scop.program, name) - 1
    if level < 0:
        return scop
    mine = _far(scop, name, level)
    count = 0
    for n, other in enumerate(line_of(scop.program, name)):
        if _far(scop, other, level) < mine:
            break
        if _far(scop, other, level) > mine:
            count = n + 1
    return check_program(put_behind(scop.program, name, count)) if count else scop


def _far(scop: Scop, name: str, level: int) -> float:
    """How many iterations ago what an update adds was assigned by what depends on it, at the least."""
    s = scop.statement(name)
    added = [term for _, term in terms_of(s.stmt.value) if not _is_own(s.stmt, term)]
    return min(nearest(scop, s, added, level))


def _is_own(stmt: Stmt, term: Expr) -> bool:
    return isinstance(term, Load) and same_element(term.access, stmt.target)


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
