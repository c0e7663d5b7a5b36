"""``strength_reduce(stmt)``: divisions of integers by numbers without a divider.

Before::

    for i in range(64):
      a = (a + d[i]) % 65521           # S1, of 0 to 65,520 and u8
      y[i] = x[i] // 10                # S2, of u16

After ``strength_reduce("S1")`` and ``strength_reduce("S2")``::

    for i in range(64):
      a = a + d[i] - 65521 if a + d[i] >= 65521 else a + d[i]
      y[i] = x[i] * 52429 >> 19

How large what is divided may be is known from types and from what scalars hold (`polyhedral.legality.divided`), and the inverse is one
that is exact up to there, so that no value is another one. A divider takes a state for each bit, and gives the first quotient so late; a
product takes DSP slices.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.schedules.recurrence_steps import StrengthReduce
from polyhedral.legality.divided import without_divisions
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.transforms.registry import Order, transform


@transform(StrengthReduce, order=Order.KEPT, too_late="W244")
def strength_reduce(state: ScheduledScop, step: StrengthReduce) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W244 the statement divides by no number, or the step comes too late.
    """
    find_statement(state, step.stmt, step)
    program = state.scop.program
    made = without_divisions(program, {step.stmt})
    if made == program:
        help_ = "it is for integers, // and % by a number that is no power of two"
        raise _refused(step, f"{step.stmt} has no divider to do without", help_)
    try:
        scop = check_program(made)
    except LanguageError as error:
        raise _refused(step, f"without dividers {step.stmt}: {error}") from error
    return replace(state, scop=scop, pieces=original(scop).pieces)


def _refused(step: StrengthReduce, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W244", text, span=step.span, help=help_)
