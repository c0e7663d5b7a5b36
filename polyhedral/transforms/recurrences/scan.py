"""``scan(stmt, loop, factor)``: a running sum in blocks, of which each waits for the one before only to add it.

Before::

    for i in range(N):
      run = run + x[i]                               # S1
      y[i] = run                                     # S2

After ``scan("S1", "i", 8)``::

    run_carry = run                                  # S1_start
    for i_0 in range(N // 8):
      run_scan[0] = x[8*i_0]                         # S1_first
      for i_1 in range(1, 8):
        run_scan[i_1] = run_scan[i_1 - 1] + x[8*i_0 + i_1]    # S1_scan
      for i_1 in range(8):
        run = run_carry + run_scan[i_1]              # S1
        y[8*i_0 + i_1] = run                         # S2
      run_carry = run_carry + run_scan[7]            # S1_carry

`pipeline("i_0")` then begins a block each time that one addition is done. ``y[i] = y[i - 1] + x[i]`` is such a sum,
too. What the factor leaves of the iterations runs behind as it was, statements named ``S1_rest`` and so on. With
``tail="guard"`` it is a last block, in which statements run under ``if 8*i_0 + i_1 < N``: no chain is behind the blocks.

So is any recurrence whose functions compose: `dsl.programs.composed` says which, and what is kept of a block beside
``run_scan``.

It is legal where `polyhedral.legality.scans` says so; a sum of floats may round otherwise (`reassociate`).
"""

from __future__ import annotations

from dataclasses import replace

from dsl.errors.errors import LanguageError, ScheduleError
from dsl.programs.scanned import with_scan
from dsl.schedules.recurrence_steps import Scan
from polyhedral.legality.program import check_program
from polyhedral.legality.recurrences import NoScanError
from polyhedral.legality.scans import running
from polyhedral.scop.lookup import check_tail, find_loop, find_statement
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.transforms.registry import Order, transform

MOST = 1024  # iterations of a block


@transform(Scan, order=Order.KEPT, too_late="W234")
def scan(state: ScheduledScop, step: Scan) -> ScheduledScop:
    """Rewrite the program; see the module.

    Raises:
        ScheduleError: W234 it is no running sum that can run in blocks, or comes too late; W207 the factor or the tail.
    """
    if not 2 <= step.factor <= MOST:
        raise ScheduleError("W207", f"{step.factor} is not 2 to {MOST}", span=step.span)
    check_tail(step.tail, step)
    uid = find_loop(state, step.loop, step)
    pieces = find_statement(state, step.stmt, step)
    level = next((k for p in pieces if (k := p.level(uid)) is not None), None)
    if level is None:
        raise _refused(step, f"{step.stmt} does not run in '{step.loop}'")
    source = state.scop.statement(step.stmt).stmt.source
    shown = (f"{step.stmt}: {source}",) if source else ()
    try:
        found = running(state.scop, step.stmt, level, step.factor)
    except NoScanError as error:
        raise _refused(step, f"{step.stmt} cannot run in blocks: {error}", shown) from error
    program = with_scan(state.scop.program, step.stmt, found, step.factor, step.tail == "guard")
    try:
        scop = check_program(program)
    except LanguageError as error:
        text = (
            f"{step.stmt} cannot run in blocks: not all that uses it is known to be in bounds then"
        )
        raise _refused(step, text, (error.message, *error.notes)) from error
    free = state.reassociated - {update.stmt.name for update in found.updates}
    return replace(state, scop=scop, pieces=original(scop).pieces, reassociated=free)


def _refused(
    step: Scan, text: str, notes: tuple[str, ...] = (), help_: str | None = None
) -> ScheduleError:
    return ScheduleError("W234", text, span=step.span, notes=notes, help=help_)
