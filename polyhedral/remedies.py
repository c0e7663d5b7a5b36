"""What would make a refused step legal: tried before it is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Reassociate, Skew, Step
from polyhedral.legality.violations import Violation
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.registry import Order, order_of

Apply = Callable[[ScheduledScop, Step], ScheduledScop]
"""A step on a state, as `polyhedral.schedule.apply_step` does it."""


def suggestion(apply: Apply, before: ScheduledScop, step: Step, violation: Violation) -> str | None:
    """A help line for an `IllegalStep`: a step after which the refused one is legal, or None."""
    for first, text in _candidates(before, step, violation):
        if _helps(apply, before, first, step):
            return text
    return None


def _helps(apply: Apply, before: ScheduledScop, first: Step, step: Step) -> bool:
    try:
        apply(apply(before, first), step)
    except ScheduleError:
        return False
    return True


def _candidates(
    before: ScheduledScop, step: Step, violation: Violation
) -> Iterator[tuple[Step, str]]:
    name = violation.sink.statement.name
    if violation.is_reduction:
        text = f'reassociate("{name}") allows its reduction in any order (on floats it rounds anew)'
        yield Reassociate(name), text
    elif order_of(step) is Order.PERMUTED:
        yield from _skews(before, violation)


def _skews(before: ScheduledScop, violation: Violation) -> Iterator[tuple[Step, str]]:
    """A distance (1, -d) becomes (1, 0) when the inner loop is skewed by d."""
    if violation.source.statement is not violation.sink.statement:
        return
    distance = violation.witness.distance
    loops = violation.source.statement.variables
    addresses = before.loop_names()
    for inner, back in enumerate(distance):
        for outer in range(inner):
            if back < 0 < distance[outer]:
                a, b = (
                    _address(loops[k], violation.sink.statement.name, addresses)
                    for k in (outer, inner)
                )
                factor = -(back // distance[outer])
                text = f'skew("{a}", "{b}", {factor}) first makes the distance nonnegative'
                yield Skew(a, b, factor), text


def _address(loop: str, stmt: str, addresses: tuple[str, ...]) -> str:
    return loop if loop in addresses else f"{stmt}.{loop}"
