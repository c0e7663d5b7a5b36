"""A limit of isl's work, for questions that may be left open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl

OPERATIONS = 100_000_000
"""Of isl, for one proof: some twenty seconds. No example takes a hundredth of it."""


class TooMuchWork(Exception):
    """isl was stopped: the question is left open."""


@contextmanager
def limited(operations: int) -> Iterator[None]:
    """Stop isl after so many operations (about five million are done in a second); 0 is never. Inside of another limit
    that one holds.

    Raises:
        TooMuchWork: it was stopped.
    """
    context = isl.DEFAULT_CONTEXT
    around = context.get_max_operations()
    if around:
        yield
        return
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
    except isl.Error as error:
        if _stopped():
            raise TooMuchWork from error
        raise
    finally:
        context.set_max_operations(0)
        context.reset_operations()


def _stopped() -> bool:
    """Whether isl does nothing any more. Its messages do not tell: what was at work when it stopped may
    call that an error of its own, of syntax say.
    """
    try:
        isl.Set("{ : }")
    except isl.Error:
        return True
    return False
