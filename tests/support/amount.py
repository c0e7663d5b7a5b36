"""How much of what could be tried tests try: more where ``WEFT_TEST_PROGRAMS`` asks for it.

A run of all tests has to be short enough to be waited for. Sweeps over random programs, kernels and
types take a sample there; ``make soak`` takes everything, and more random programs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

TIMES = int(os.environ.get("WEFT_TEST_PROGRAMS", "1"))


def programs(count: int, first: int = 0) -> range:
    """Seeds from ``first`` on: ``count`` of them, or that many times `TIMES`."""
    return range(first, first + count * TIMES)


def sample(items: Sequence[T], every: int) -> Sequence[T]:
    """The first of each ``every`` items; all of them in long runs."""
    return items[::every] if TIMES == 1 else items
