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

from dsl.schedules.steps import Step
from polyhedral.scop.scheduled import ScheduledScop

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


TRANSFORMS: dict[type[Step], Transform] = {}
"""That of every step."""


def transform(
    step: type[S], *, order: Order = Order.CHANGED
) -> Callable[
    [Callable[[ScheduledScop, S], ScheduledScop]], Callable[[ScheduledScop, S], ScheduledScop]
]:
    """The decorated function carries out this step. Its order is proven unless it is kept."""

    def register(
        carry_out: Callable[[ScheduledScop, S], ScheduledScop],
    ) -> Callable[[ScheduledScop, S], ScheduledScop]:
        TRANSFORMS[step] = Transform(carry_out, order)
        return carry_out

    return register


def carried_out(state: ScheduledScop, step: Step) -> ScheduledScop:
    """The state after one step, whether it is legal or not.

    Raises:
        ScheduleError: W2xx it names what is not there, or cannot be done.
    """
    return TRANSFORMS[type(step)].carry_out(state, step)


def order_of(step: Step) -> Order:
    """What a step may do to the order of iterations."""
    return TRANSFORMS[type(step)].order
