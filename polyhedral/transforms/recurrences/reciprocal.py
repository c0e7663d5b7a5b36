"""``reciprocal(stmt, loop)``: one division by what a loop keeps, and products with the reciprocal in it.

Before::

    for i in range(N):
      for j in range(M):
        y[i, j] = x[i, j] / total[i]                  # S3

After ``reciprocal("S3", "j")``::

    for i in range(N):
      total_inverse = 1.0 / total[i]                  # S3_inverse
      for j in range(M):
        y[i, j] = x[i, j] * total_inverse             # S3

Of a loop outside, each of whose iterations divides by the same elements, there is a reciprocal for each of these. What the loop itself
has computed first is divided by in the first iteration that needs it. Before, of a Cholesky decomposition by rows::

    for i in range(N):
      for j in range(i):
        A[i, j] = A[i, j] / A[j, j]                   # S1
      A[i, i] = sqrt(A[i, i])                         # S2

After ``reciprocal("S1", "i")``::

    for i in range(N):
      for j in range(i):
        if i == j + 1: A_inverse[j] = 1.0 / A[j, j]   # S1_inverse
        A[i, j] = A[i, j] * A_inverse[j]              # S1
      A[i, i] = sqrt(A[i, i])                         # S2

That the iterations divide by the same is proven (`polyhedral.legality.kept_divisors`). A product with a rounded reciprocal is rounded twice, so
that it may be off by a unit in the last place more than the quotient; and where the reciprocal of a very small divisor is no number of the type, neither is
the product. Integers and fixed point have no such reciprocals.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.schedules.recurrence_steps import Reciprocal
from polyhedral.legality.kept_divisors import NotKeptError, with_reciprocal
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_loop, find_statement
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.transforms.registry import Order, transform


@transform(Reciprocal, order=Order.KEPT, too_late="W249")
def reciprocal(state: ScheduledScop, step: Reciprocal) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W249 the loop keeps no divisor of the statement, or the step comes too late.
    """
    uid = find_loop(state, step.loop, step)
    pieces = find_statement(state, step.stmt, step)
    if not pieces:
        raise _refused(step, f"{step.stmt} has no iterations")
    level = pieces[0].level(uid)
    if level is None:
        raise _refused(step, f"{step.stmt} does not run in '{step.loop}'")
    try:
        found = with_reciprocal(state.scop, step.stmt, level)
    except NotKeptError as error:
        help_ = "name a loop that its divisor does not change with"
        raise _refused(step, f"{step.stmt} in '{step.loop}': {error}", help_) from error
    scop = check_program(found.program)
    return replace(state, scop=scop, pieces=original(scop).pieces)


def _refused(step: Reciprocal, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W249", text, span=step.span, help=help_)
