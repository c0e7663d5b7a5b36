"""Ranges of affine expressions over the iterations of loops: cheap, conservative bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access
from dsl.programs.program import Loop

Range = tuple[int, int]
"""Smallest and largest value, both included; empty if they are the wrong way round."""


def loop_range(loop: Loop, ranges: Mapping[str, Range]) -> Range:
    """A range that holds every value of the loop variable."""
    low = max(bound.interval(ranges)[0] for bound in loop.lowers)
    high = min(bound.interval(ranges)[1] for bound in loop.uppers) - 1
    return low, high


def trips(loop: Loop, ranges: Mapping[str, Range]) -> int:
    """At most so many iterations."""
    low, high = loop_range(loop, ranges)
    return max(0, (high - low) // abs(loop.step) + 1)


def stays_inside(access: Access, shape: tuple[int, ...], ranges: Mapping[str, Range]) -> bool:
    """Whether no affine subscript is ever out of bounds (or the access never happens), nor a limit."""
    for index, extent in (*zip(access.indices, shape, strict=True), *access.limits):
        if index.is_data:
            continue
        low, high = index.interval(ranges)
        if low <= high and (low < 0 or high >= extent):
            return False
    return True


def smallest(affine: Affine, inner: Sequence[Loop], ranges: Mapping[str, Range]) -> int:
    """A lower bound of the expression in iterations where the ``inner`` loops run.

    The loops are given outermost first and eliminated from the innermost out by their bounds, so
    that ``j - k`` with ``i <= j`` and ``k < i`` is known to be positive. ``ranges`` must hold
    every variable.
    """
    if not inner or not affine.is_linear:
        return affine.interval(ranges)[0]
    *rest, loop = inner
    factor = affine.coefficient(loop.var)
    if factor == 0:
        return smallest(affine, rest, ranges)
    ends = loop.lowers if factor > 0 else tuple(bound - 1 for bound in loop.uppers)
    return max(smallest(affine.substitute({loop.var: end}), rest, ranges) for end in ends)


def largest(affine: Affine, inner: Sequence[Loop], ranges: Mapping[str, Range]) -> int:
    """An upper bound; see `smallest`."""
    return -smallest(-affine, inner, ranges)


def never_zero(affine: Affine, inner: Sequence[Loop], ranges: Mapping[str, Range]) -> bool:
    """Whether it is proven that the expression is 0 in no iteration."""
    if affine.is_linear:
        common = gcd(*(factor for _, factor in affine.terms)) if affine.terms else 0
        if (affine.const % common if common else affine.const) != 0:
            return True
    return smallest(affine, inner, ranges) > 0 or largest(affine, inner, ranges) < 0
