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
from polyhedral.scop.scheduled import ScheduledScop, is_as_written

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
    """Of steps that rewrite the program as it is written: the code of the error behind steps that change loops."""


TRANSFORMS: dict[type[Step], Transform] = {}
"""That of every step."""


def transform(
    step: type[S], *, order: Order = Order.CHANGED, too_late: str | None = None
) -> Callable[
    [Callable[[ScheduledScop, S], ScheduledScop]], Callable[[ScheduledScop, S], ScheduledScop]
]:
    """The decorated function carries out this step. Its order is proven unless it is kept.

    One that rewrites the program as it is written says with which code it is refused ``too_late``, behind steps that
    change loops.
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
    if found.too_late is not None and not is_as_written(state):
        raise ScheduleError(
            found.too_late,
            f"{step.kind} comes after steps that change loops",
            span=step.span,
            help="put it in front of all steps that move, cut, annotate or regroup loops",
        )
    return found.carry_out(state, step)


def rewrites(step: Step) -> bool:
    """Whether it rewrites the program as it is written, and so stands in front of all steps that change loops."""
    return TRANSFORMS[type(step)].too_late is not None


def order_of(step: Step) -> Order:
    """What a step may do to the order of iterations."""
    return TRANSFORMS[type(step)].order
