"""Garbage collection while a design's module, or its bits, are made, and while a space is searched."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS = 20_000


@contextmanager
def rare_collection() -> Iterator[None]:
    """Look for cycles of garbage after 20,000 new objects instead of 700.

    The bits of a design are millions of objects that live until it is counted and refer to one
    another without cycles: to look through them time and again takes a third of an estimate. Of a
    module built and read it takes a sixth, and of a search, whose points and estimates stay, a fifth.
    """
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
