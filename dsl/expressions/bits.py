"""Bitwise operators on loop variables that are affine: masks, and bits that are put together.

``i & 12`` is ``i % 16 - i % 4``, and the other two follow: ``a | b`` is ``a + b - (a & b)``, ``a ^ b`` is
``a + b - 2 * (a & b)``. So ``x[i ^ 4]`` and ``x[(i & ~3) << 1 | i & 3]`` of a butterfly are subscripts whose banks and
dependences are known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from dsl.expressions.affine import Affine
from dsl.expressions.expr import BinaryOp

MAX_MASK = 2**31
"""Masks are of as many bits as a loop variable."""

MAX_RUNS = 2
"""Bits that are next to each other are two remainders; what takes more is no simpler than the mask."""

_ANY = (-(2**62), 2**62)
_OPERATORS = (BinaryOp.AND, BinaryOp.OR, BinaryOp.XOR)


def bitwise(
    op: BinaryOp, a: Affine, b: Affine, ranges: Mapping[str, tuple[int, int]]
) -> Affine | None:
    """``a op b`` for AND, OR and XOR, where it is affine; else None.

    Args:
        op: any operator.
        a: an affine expression.
        b: one; a mask is on either side.
        ranges: of the loop variables, as far as they are known.
    """
    if op not in _OPERATORS or (a.is_const and b.is_const):
        return None
    both = _common(a, b, ranges)
    if both is None:
        return None
    if op is BinaryOp.AND:
        return both
    return a + b - both * (1 if op is BinaryOp.OR else 2)


def _common(a: Affine, b: Affine, ranges: Mapping[str, tuple[int, int]]) -> Affine | None:
    """``a & b``."""
    if a.is_const:
        a, b = b, a
    known = defaultdict(lambda: _ANY, ranges)
    if b.is_const:
        mask = b.const
        if not -MAX_MASK <= mask < MAX_MASK:
            return None
        return _masked(a, mask, known) if mask >= 0 else _without(a, ~mask, known)
    return Affine() if _apart(a, b, known) or _apart(b, a, known) else None


def _without(of: Affine, mask: int, ranges: Mapping[str, tuple[int, int]]) -> Affine | None:
    """The bits that are not those of a mask."""
    taken = _masked(of, mask, ranges)
    return None if taken is None else of - taken


def _masked(of: Affine, mask: int, ranges: Mapping[str, tuple[int, int]]) -> Affine | None:
    """The bits of a mask that is not negative."""
    found, start, runs = Affine(), 0, 0
    while mask >> start:
        start += ((mask >> start) & -(mask >> start)).bit_length() - 1
        end = start + (~(mask >> start) & ((mask >> start) + 1)).bit_length() - 1
        found += _below(of, end, ranges) - _below(of, start, ranges)
        start, runs = end, runs + 1
    return found if runs <= MAX_RUNS else None


def _below(of: Affine, bits: int, ranges: Mapping[str, tuple[int, int]]) -> Affine:
    """The lowest bits: a number that has no others is these."""
    low, high = of.interval(ranges)
    return of if low >= 0 and high < 1 << bits else of % (1 << bits)


def _apart(above: Affine, below: Affine, ranges: Mapping[str, tuple[int, int]]) -> bool:
    """Whether one has only bits above those of the other."""
    low, high = below.interval(ranges)
    unit = 1 << high.bit_length()
    parts = (above.const, *(c for _, c in above.terms))
    return low >= 0 and all(c % unit == 0 for c in parts)
