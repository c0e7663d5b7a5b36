"""``two_pass(stmts, loop)``: the running extremum first, then the sums that were rescaled to it.

Before, a softmax that reads its row once::

    for i in range(N):
      higher = max(top, x[i])                                               # S2
      total = total * exp(top - higher) + exp(x[i] - higher)                # S3
      top = higher                                                          # S4

After ``two_pass(["S3"], "i")``::

    top_before = top                                                        # top_start
    for i in range(N):
      top = max(top, x[i])                                                  # S4
    top_scale = exp(top_before - top)                                       # top_factor
    total *= top_scale                                                      # S3_start
    for i in range(N):
      total += exp(x[i] - top)                                              # S3

An iteration waited for the product and the sum of the one before, and computed two exponentials. Now both loops are
reductions, which `partial_sums`, `tree` and copies make parallel, with one exponential each. A sum that is 0 in front of the loop
is not rescaled there. Several sums of one extremum (those of a weighted mean, the rows of an attention head)
are named together.

It is legal where nothing uses the extremum or the sums in between, and the terms are what `polyhedral.legality.rescaled` says.
Floats round otherwise. What the extremum is compared with and the sums need as well, as a product of rows, is first given an element
for each iteration by `expand`.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.programs.two_pass import with_two_passes
from dsl.schedules.recurrence_steps import TwoPass
from polyhedral.legality.program import check_program
from polyhedral.legality.rescaled import NotRescaledError, rescaled
from polyhedral.scop.lookup import find_loop, find_statement
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.transforms.registry import Order, transform


@transform(TwoPass, order=Order.KEPT, too_late="W248")
def two_pass(state: ScheduledScop, step: TwoPass) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W248 the sums are not rescaled to a running extremum, or the step comes too late.
    """
    if not step.stmts:
        raise _refused(step, "two_pass names no statement", "name a statement of each sum")
    uid = find_loop(state, step.loop, step)
    pieces = [find_statement(state, name, step)[0] for name in step.stmts]
    level = pieces[0].level(uid)
    if level is None:
        raise _refused(step, f"{step.stmts[0]} does not run in '{step.loop}'")
    try:
        found = rescaled(state.scop.program, step.stmts, level)
        scop = check_program(with_two_passes(state.scop.program, step.stmts[0], found))
    except NotRescaledError as error:
        raise _refused(step, str(error), error.help) from error
    except LanguageError as error:
        raise _refused(step, f"the loop cannot be two: {error.message}") from error
    left = {s.name for s in scop.statements}
    free = (state.reassociated | {*step.stmts}) & left
    return replace(state, scop=scop, pieces=original(scop).pieces, reassociated=free)


def _refused(step: TwoPass, text: str, help_: str | None = None) -> ScheduleError:
    return ScheduleError("W248", text, span=step.span, help=help_)
