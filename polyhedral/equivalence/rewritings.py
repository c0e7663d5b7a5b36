"""Steps that rewrite the program: what each made of it, and whether that computes the same."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Expand, PartialSums
from polyhedral.equivalence.expansion import check_expansion
from polyhedral.equivalence.partial_sums import check_partial_sums, sum_of
from polyhedral.equivalence.raised import NotProven
from polyhedral.equivalence.refutation import Refutation
from polyhedral.isl.effort import OPERATIONS, TooMuchWork, limited
from polyhedral.schedule import apply_step
from polyhedral.scop.scheduled import build


@dataclass(frozen=True)
class Rewriting:
    """What a step made of a program."""

    step: PartialSums | Expand
    before: Program
    after: Program

    @property
    def free(self) -> frozenset[str]:
        """Statements whose reductions may be done in any order because of it."""
        if isinstance(self.step, PartialSums):
            return frozenset({sum_of(self.before, self.after)})
        return frozenset()


def rewritings(program: Program, schedule: Schedule) -> tuple[Rewriting, ...]:
    """What the steps of a schedule that rewrite the program make of it, one after the other.

    Raises:
        ScheduleError: a step is not legal.
    """
    found: list[Rewriting] = []
    left = sum(isinstance(step, (PartialSums, Expand)) for step in schedule)
    state = build(program) if left else None
    for step in schedule:
        if state is None or len(found) == left:
            break
        before, state = state.scop.program, apply_step(state, step)
        if isinstance(step, (PartialSums, Expand)):
            found.append(Rewriting(step, before, state.scop.program))
    return tuple(found)


def check_rewriting(
    rewriting: Rewriting, operations: int = OPERATIONS
) -> Refutation | NotProven | None:
    """Compare a program with what a step made of it."""
    before, after = rewriting.before, rewriting.after
    try:
        with limited(operations):
            if isinstance(rewriting.step, Expand):
                return check_expansion(before, after, rewriting.step.array)
            return check_partial_sums(before, after, rewriting.step.stmt)
    except TooMuchWork:
        return NotProven(f"isl did not come to an end within {operations:,} operations")
