"""``if_convert(stmt)``: what is under a condition on loop variables runs always, and chooses.

Before, an elimination of all rows but one::

    for k in range(N):
      for i in range(N):
        if i != k:
          f = A[i, k]                                     # S0
          for j in range(k, N):
            A[i, j] -= f * A[k, j]                        # S1

After ``if_convert("S1")``::

    for k in range(N):
      for i in range(N):
        f = A[i, k]                                       # S0
        for j in range(k, N):
          A[i, j] -= f * A[k, j] if i != k else 0         # S1

The loops below and above the row are one, with one pipeline that fills once. What is stored where the condition does not
hold is what was there. The rewriting is in `dsl.programs.if_converted`, and is kept where it is proven to compute the same
(`polyhedral.legality.chosen_otherwise`) and where all that it reads is there.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.programs.if_converted import NoConditionError, if_converted
from dsl.schedules.range_steps import IfConvert
from polyhedral.legality.chosen_otherwise import chosen_otherwise
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.transforms.registry import Order, transform


@transform(IfConvert, order=Order.KEPT, too_late="W255")
def if_convert(state: ScheduledScop, step: IfConvert) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W255 there is no such condition, it would compute something else, or the step comes too late.
    """
    find_statement(state, step.stmt, step)
    try:
        scop = check_program(if_converted(state.scop.program, step.stmt))
    except NoConditionError as error:
        raise _refused(step, str(error)) from None
    except LanguageError as error:
        text = f"{step.stmt} cannot run in all iterations of its loops: {error.message}"
        raise _refused(step, text) from None
    wrong = chosen_otherwise(state.scop, scop)
    if wrong is not None:
        raise _refused(step, wrong)
    return replace(state, scop=scop, pieces=original(scop).pieces)


def _refused(step: IfConvert, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W255", text, span=step.span, help=help_)
