"""What is known of counters, for those who make hardware and those who predict its cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backends.rtl.graph import Counter
from dsl.expressions.affine import Constraint

Ranges = Mapping[str, tuple[int, int]]
"""Of each counter the least and the greatest value."""


def counter_range(counter: Counter, ranges: Ranges) -> tuple[int, int]:
    """The values of a normal counter."""
    return 0, max(0, min(u.interval(ranges)[1] for u in counter.uppers) - 1)


def may_be_empty(counter: Counter, ranges: Ranges) -> bool:
    """Whether a normal counter may have no iteration; hardware has to look then."""
    return any(u.interval(ranges)[0] < 1 for u in counter.uppers)


def decides_late(
    constraints: Iterable[Constraint], changing: frozenset[str], *, first: bool
) -> bool:
    """Whether a region takes a cycle of its own to decide whether it runs.

    Args:
        constraints: On which it depends; none is no decision.
        changing: Counters that change with the edge at which the region would start.
        first: The region comes first in the body of a loop.
    """
    given = tuple(constraints)
    if not given:
        return False
    return first or any(c.expr.variables() & changing for c in given)
