"""Programs that nobody waits for: what runs them says so before it begins."""

from __future__ import annotations

import math

from dsl.errors.errors import InputError
from dsl.programs.program import Loop, Program, Stmt

MOST_ITERATIONS = 1 << 36
"""Compiled code runs some 10⁹ iterations in a second."""

MOST_ELEMENTS = 1 << 28
"""Of all arrays together; inputs and results are there once for each level."""


def check_run_size(program: Program) -> None:
    """Refuse to run what takes minutes at least.

    Raises:
        InputError: W167 it has too many iterations, or elements.
    """
    elements = sum(math.prod(a.shape) for a in program.arrays)
    most = max(
        (_iterations(around) for s, around in program.walk() if isinstance(s, Stmt)), default=0
    )
    if elements <= MOST_ELEMENTS and most <= MOST_ITERATIONS:
        return
    what = f"{most:,} iterations" if most > MOST_ITERATIONS else f"{elements:,} elements"
    raise InputError(
        "W167",
        f"'{program.name}' has {what}, which is too many to be run",
        span=program.span,
        help="run it at a smaller size, with --size or .at(N=...); weft verify --equivalence proves it without "
        "running it",
    )


def _iterations(around: tuple[object, ...]) -> int:
    """At most: the loops around a statement as long as each of them may be."""
    ranges: dict[str, tuple[int, int]] = {}
    count = 1
    for loop in around:
        if isinstance(loop, Loop):
            low = max(b.interval(ranges)[0] for b in loop.lowers)
            high = min(b.interval(ranges)[1] for b in loop.uppers) - 1
            ranges[loop.var] = (low, max(low, high))
            count *= max(0, -(-(high - low + 1) // abs(loop.step)))
    return count
