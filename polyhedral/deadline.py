"""A deadline for planning: where somebody has said how long, what is only tried is given up at a step of its own.

Planning is many thousands of calls far below whoever knows of the deadline. A thread's context carries it, and those that
do a piece of work ask before they begin: nothing is stopped in the middle.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

_ENDS: ContextVar[float] = ContextVar("ends", default=inf)


class DeadlinePassedError(Exception):
    """There is no time left for a piece of work."""


@contextmanager
def until(ends: float) -> Iterator[None]:
    """What is done inside ends by then, of `time.monotonic`; an earlier deadline around it holds."""
    token = _ENDS.set(min(ends, _ENDS.get()))
    try:
        yield
    finally:
        _ENDS.reset(token)


def check_deadline() -> None:
    """Before a piece of work.

    Raises:
        DeadlinePassedError: it is too late for it.
    """
    ends = _ENDS.get()
    if ends < inf and time.monotonic() >= ends:
        raise DeadlinePassedError


@contextmanager
def enough(found: Sized) -> Iterator[None]:
    """Fill ``found`` as far as there is time for.

    Raises:
        DeadlinePassedError: nothing was found by then.
    """
    try:
        yield
    except DeadlinePassedError:
        if not found:
            raise
