"""``locate(stmt, loop)``: a choice that is made again and again becomes a search for where it is made last.

Before::

    for i in range(N):
      at = i if x[i] == key else at              # S1

After ``locate("S1", "i")``::

    at_pos = -1                                  # S1_init
    for i in range(N):
      at_pos = max(at_pos, i if x[i] == key else -1)     # S1
    at = at_pos if at_pos >= 0 else at           # S1_end

An iteration no longer waits for all that the one before has chosen: positions are compared in any order.
With ``break`` it is the first position. Beside a minimum or maximum, as in a search for its index, S1 gets a
loop of its own behind, that looks for the first iteration which has the extremum.
Loops inside of ``loop`` are searched with it; the position then counts all of their iterations.

It is legal where the conditions and what is chosen are known without the iterations before, as
`polyhedral.legality.matches` shows them, and nothing else in the loop reads or writes the element.
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import ScheduleError
from dsl.programs.located import with_position
from dsl.schedules.recurrence_steps import Locate
from polyhedral.legality.matches import NoMatchError, match_of
from polyhedral.legality.program import check_program
from polyhedral.scop.lookup import find_loop, find_statement
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.transforms.registry import Order, transform


@transform(Locate, order=Order.KEPT, too_late="W233")
def locate(state: ScheduledScop, step: Locate) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W233 it is no choice of which the last iteration is known, or comes too late.
    """
    uid = find_loop(state, step.loop, step)
    pieces = find_statement(state, step.stmt, step)
    level = next((k for p in pieces if (k := p.level(uid)) is not None), None)
    if level is None:
        raise _refused(step, f"{step.stmt} does not run in '{step.loop}'")
    try:
        match = match_of(state.scop.program, step.stmt, level)
    except NoMatchError as error:
        source = state.scop.statement(step.stmt).stmt.source
        raise _refused(step, str(error), (f"{step.stmt}: {source}",) if source else ()) from error
    found = with_position(state.scop.program, step.stmt, level, match)
    scop = check_program(found.program)
    left = {s.name for s in scop.statements}
    free = (state.reassociated | {step.stmt}) & left
    return replace(state, scop=scop, pieces=original(scop).pieces, reassociated=free)


def _refused(
    step: Locate, text: str, notes: tuple[str, ...] = (), help_: str | None = None
) -> ScheduleError:
    return ScheduleError("W233", text, span=step.span, notes=notes, help=help_)
