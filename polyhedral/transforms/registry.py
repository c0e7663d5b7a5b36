"""Which function carries out which step, and what that does to the order of iterations.

A file of `polyhedral.transforms` registers its own::

    @transform(Split, order=Order.KEPT)
    def split(state: ScheduledScop, step: Split) -> ScheduledScop:

The package imports all of them, so that whoever can import this module finds each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeVar

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Step
from polyhedral.scop.scheduled import ScheduledScop
from polyhedral.transforms.as_program import as_program

S = TypeVar("S", bound=Step)


class Order(Enum):
    """What a step may do to the order in which iterations run."""

    KEPT = auto()
    """Nothing: it cuts a loop where it runs, or only says how something is to be built."""
    PERMUTED = auto()
    """It puts loops of one nest in another order; a skew first may make that legal."""
    CHANGED = auto()
    """Anything else."""


@dataclass(frozen=True, slots=True)
class Transform:
    """How a step is carried out, structure only, and what it may do to the order."""

    carry_out: Callable[[ScheduledScop, Any], ScheduledScop]
    order: Order
    too_late: str | None
    """Of steps that rewrite the program: the code of the error behind steps that ask something of its loops."""


TRANSFORMS: dict[type[Step], Transform] = {}
"""That of every step."""


def transform(
    step: type[S], *, order: Order = Order.CHANGED, too_late: str | None = None
) -> Callable[
    [Callable[[ScheduledScop, S], ScheduledScop]], Callable[[ScheduledScop, S], ScheduledScop]
]:
    """The decorated function carries out this step. Its order is proven unless it is kept.

    One that rewrites the program says with which code it is refused ``too_late``, behind steps that ask something of
    loops. Where loops were only moved or cut, those become the program's first.
    """

    def register(
        carry_out: Callable[[ScheduledScop, S], ScheduledScop],
    ) -> Callable[[ScheduledScop, S], ScheduledScop]:
        TRANSFORMS[step] = Transform(carry_out, order, too_late)
        return carry_out

    return register


def carried_out(state: ScheduledScop, step: Step) -> ScheduledScop:
    """The state after one step, whether it is legal or not.

    Raises:
        ScheduleError: W2xx it names what is not there, or cannot be done.
    """
    found = TRANSFORMS[type(step)]
    if found.too_late is None:
        return found.carry_out(state, step)
    program = as_program(state)
    if program is None:
        raise ScheduleError(
            found.too_late,
            f"{step.kind} comes after steps that ask something of loops",
            span=step.span,
            help="put it in front of pipeline, unroll, dataflow and what else is asked of loops",
        )
    return found.carry_out(program, step)


def rewrites(step: Step) -> bool:
    """Whether it rewrites the program, and so stands in front of all steps that ask something of its loops."""
    return TRANSFORMS[type(step)].too_late is not None


def order_of(step: Step) -> Order:
    """What a step may do to the order of iterations."""
    return TRANSFORMS[type(step)].order
