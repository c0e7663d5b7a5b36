"""``apply(program, schedule)``: carry out the steps, each proven legal or refused."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from dsl.errors.errors import ScheduleError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Step
from polyhedral.deadline import check_deadline
from polyhedral.isl.effort import TooMuchWork, limited
from polyhedral.legality.lifetimes import check_lifetimes
from polyhedral.legality.program import check_program
from polyhedral.legality.violations import IllegalStep, violations
from polyhedral.legality.write_after_read import check_write_after_read
from polyhedral.remedies import suggestion
from polyhedral.requests.annotations import check_annotations
from polyhedral.requests.complete import check_complete
from polyhedral.requests.kept_arrays import check_kept_arrays
from polyhedral.scop.scheduled import ScheduledScop, original
from polyhedral.transforms.directives.dataflow import check_region
from polyhedral.transforms.guarding import with_guards
from polyhedral.transforms.registry import Order, carried_out, order_of


def apply(program: Program, schedule: Schedule) -> ScheduledScop:
    """The program under the schedule.

    Raises:
        ScheduleError: W203 (as `polyhedral.legality.violations.IllegalStep`, with a witness) when a
            step would reverse a dependence, other W2xx when it names what is not there or cannot be
            done; the step's span is the error's.
        LanguageError: W16x when the program itself accesses an array out of bounds or reads a
            local before it is written.
    """
    return completed(begun(program, ()), schedule)


def completed(state: ScheduledScop, steps: Iterable[Step]) -> ScheduledScop:
    """The program under the last steps of a schedule, of which the first ones are carried out; see `apply`."""
    for step in steps:
        state = apply_step(state, step)
    check_complete(state)
    check_write_after_read(state)
    return state


def begun(program: Program, steps: Iterable[Step]) -> ScheduledScop:
    """The program under the first steps of a schedule; what a complete one has to meet is not asked.

    Raises:
        ScheduleError, LanguageError: as `apply`.
    """
    state = original(check_program(program))
    for step in steps:
        state = apply_step(state, step)
    return state


def apply_step(state: ScheduledScop, step: Step) -> ScheduledScop:
    """One step on one state; see `apply`.

    Raises:
        DeadlinePassedError: there is one, as of a search that has to end, and it has passed.
    """
    check_deadline()
    new = carried_out(state, step)
    check_kept_arrays(state, new, step)
    known = {id(p) for p in state.pieces}
    changed = [p for p in new.pieces if id(p) not in known]
    if order_of(step) is not Order.KEPT:
        check_order(state, new, frozenset(p.name for p in changed), step)
    new = with_guards(new, changed)
    check_annotations([p for p in new.pieces if id(p) not in known], step)
    check_region(state, new, step)
    return new


def check_order(
    before: ScheduledScop, after: ScheduledScop, changed: frozenset[str], step: Step
) -> None:
    """Raise `IllegalStep` if ``after`` runs dependent iterations in the wrong order.

    ``changed`` names the statements of which a piece was changed or moved.
    """
    if not changed:
        return
    for _ in violations(after, changed, before, in_order=False):
        found = partial(violations, after, changed, before)
        raise IllegalStep(found, step, partial(suggestion, apply_step, before, step))
    check_lifetimes(before, after, step)


TRIED = 25_000_000
"""Operations of isl for steps that are only tried: some five seconds, of which no example takes a tenth."""


def tried(state: ScheduledScop, *steps: Step) -> ScheduledScop | None:
    """The state after some steps; None where one of them is refused, or where isl does not come to an end about it."""
    try:
        with limited(TRIED):
            for step in steps:
                state = apply_step(state, step)
    except (ScheduleError, TooMuchWork):
        return None
    return state
