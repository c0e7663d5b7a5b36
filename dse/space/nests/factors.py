"""Unroll factors worth trying."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1024)
def factors(extent: int) -> tuple[int, ...]:
    """For each number of blocks the least factor that gives it, ascending, 1 and extent included.

    All divisors are among them; the others leave a remainder nest. A factor that is left out runs
    as many blocks as a smaller one: ``factors(10)`` is ``(1, 2, 3, 4, 5, 10)``, as 6, 7, 8 and 9
    need two blocks as 5 does.
    """
    found: list[int] = []
    blocks = 1
    while blocks <= extent:
        factor = -(-extent // blocks)
        found.append(factor)
        if factor == 1:
            break
        blocks = -(-extent // (factor - 1))
    return tuple(reversed(found))
