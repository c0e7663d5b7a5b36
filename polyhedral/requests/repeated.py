"""A request is made once: one that another contradicts would vanish without a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TypeVar

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Step

S = TypeVar("S", bound=Step)


def once(known: tuple[S, ...], same: Sequence[S], step: S, what: str) -> tuple[S, ...]:
    """The requests with one more; W223 where one of the same thing asks for something else.

    Args:
        known: what was asked for.
        same: those of them that are about the same thing; at most one.
        step: what is asked for now.
        what: the thing, for the message.
    """
    if not same:
        return (*known, step)
    if same[0] != step:
        raise contradiction(step, what, told(same[0]), same[0])
    return known


def contradiction(step: Step, what: str, asked: str, first: Step | None = None) -> ScheduleError:
    """W223: the step would undo what another asked for."""
    place = f" at {first.span}" if first is not None and first.span is not None else ""
    return ScheduleError(
        "W223",
        f"{what} is asked for twice, in two ways",
        span=step.span,
        notes=[f"{asked} came first{place}"],
        help="leave one of the two out",
    )


def told(step: Step) -> str:
    """A step as it is written."""
    own = [f for f in fields(step) if f.name != "span"]
    while own and getattr(step, own[-1].name) == own[-1].default:
        own.pop()  # what comes last and is as it is without a word
    return f"{step.kind}({', '.join(_value(getattr(step, f.name)) for f in own)})"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
