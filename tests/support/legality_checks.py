"""Is what `polyhedral` says about one step true? Asked of brute force."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Buffer, Step
from polyhedral.legality.violations import IllegalStep
from polyhedral.requests.complete import check_complete
from polyhedral.schedule import apply_step
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import carried_out
from tests.support.oracle import Oracle
from tests.support.rewritten import rewriting_faults
from tests.support.timestamps import TwiceError, meaning_faults, rows_of, times_of

OVERLAP = "W211"


class Verdict(Enum):
    """What came out for one step."""

    ACCEPTED = "accepted"
    REFUSED = "refused"  # with a true witness
    NOT_DONE = "not done"  # names what is not there, or the structure does not allow it
    WRONGLY_ACCEPTED = "wrongly accepted"
    FALSELY_REFUSED = "falsely refused"
    FALSE_WITNESS = "false witness"
    WRONG_MEANING = "wrong meaning"

    @property
    def is_fault(self) -> bool:
        """Whether it is a bug."""
        return self not in (Verdict.ACCEPTED, Verdict.REFUSED, Verdict.NOT_DONE)


@dataclass(frozen=True, slots=True)
class StepResult:
    """A verdict with the state after the step, or the error that it was refused with."""

    verdict: Verdict
    state: ScheduledScop | None = None
    error: ScheduleError | None = None
    detail: str = ""


def judge(oracle: Oracle, before: ScheduledScop, step: Step) -> StepResult:
    """Take one step and check what `polyhedral` makes of it."""
    try:
        after = apply_step(before, step)
        check_complete(after)
    except IllegalStep as error:
        _check_text(error)
        return _judge_refusal(oracle, before, step, error)
    except ScheduleError as error:
        _check_text(error)
        if error.code == OVERLAP:
            return _judge_overlap(oracle, before, step, error)
        return StepResult(Verdict.NOT_DONE, error=error, detail=error.code)
    return _judge_acceptance(oracle, before, after, step)


def _check_text(error: ScheduleError) -> None:
    """A refusal's text is built when it is read: read it."""
    assert error.code in error.render()


def _judge_acceptance(
    oracle: Oracle, before: ScheduledScop, after: ScheduledScop, step: Step
) -> StepResult:
    if isinstance(step, Buffer):
        faults = rewriting_faults(before, after)
        verdict = Verdict.WRONG_MEANING if faults else Verdict.ACCEPTED
        return StepResult(verdict, after, detail=" ".join(faults))
    try:
        faults = list(meaning_faults(before, after, step))
    except TwiceError as error:
        faults = [str(error)]
    if faults:
        return StepResult(Verdict.WRONG_MEANING, after, detail=faults[0])
    violation = oracle.violation(times_of(rows_of(after)), after.reassociated)
    if violation is not None:
        return StepResult(Verdict.WRONGLY_ACCEPTED, after, detail=str(violation))
    return StepResult(Verdict.ACCEPTED, after)


def _judge_refusal(
    oracle: Oracle, before: ScheduledScop, step: Step, error: IllegalStep
) -> StepResult:
    after = carried_out(before, step)
    faults = list(meaning_faults(before, after, step))
    if faults:
        return StepResult(Verdict.WRONG_MEANING, error=error, detail=faults[0])
    times = times_of(rows_of(after))
    if oracle.violation(times, after.reassociated) is None:
        return StepResult(Verdict.FALSELY_REFUSED, error=error, detail=str(error.witness))
    witness = error.witness
    detail = str(witness)
    if not oracle.is_dependence(witness.source, witness.sink, witness.array, after.reassociated):
        return StepResult(Verdict.FALSE_WITNESS, error=error, detail=f"no dependence: {detail}")
    if times[witness.source] < times[witness.sink]:
        return StepResult(Verdict.FALSE_WITNESS, error=error, detail=f"in order: {detail}")
    return StepResult(Verdict.REFUSED, error=error, detail=detail)


def _judge_overlap(
    oracle: Oracle, before: ScheduledScop, step: Step, error: ScheduleError
) -> StepResult:
    """Do lifetimes of a local's copies really overlap, if they share one storage?"""
    after = carried_out(before, step)
    times = times_of(rows_of(after))
    local = {a.name: () for a in oracle.program.locals}
    order = sorted(oracle.events, key=lambda event: times[event.key])
    shared = oracle.sources([(event, local) for event in order])
    if shared == oracle.expected_sources():
        return StepResult(Verdict.FALSELY_REFUSED, error=error, detail=error.code)
    return StepResult(Verdict.REFUSED, error=error, detail=error.code)
