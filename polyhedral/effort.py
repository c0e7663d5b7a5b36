"""A limit of isl's work, for questions that may be left open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl


class TooMuchWork(Exception):
    """isl was stopped: the question is left open."""


@contextmanager
def limited(operations: int) -> Iterator[None]:
    """Stop isl after so many operations (about five million are done in a second).

    Raises:
        TooMuchWork: it was stopped.
    """
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
    except isl.Error as error:
        if "number of operations exceeded" in str(error):
            raise TooMuchWork from error
        raise
    finally:
        context.set_max_operations(0)
        context.reset_operations()
