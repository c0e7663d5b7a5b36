"""How many random programs tests try: so many times as many where ``WEFT_TEST_PROGRAMS`` asks for it."""

from __future__ import annotations

import os

TIMES = int(os.environ.get("WEFT_TEST_PROGRAMS", "1"))


def programs(count: int, first: int = 0) -> range:
    """Seeds from ``first`` on: ``count`` of them, or that many times `TIMES`."""
    return range(first, first + count * TIMES)
