"""Multipliers of integers: what a product of two widths is made of, in DSP slices.

Vitis HLS makes a product of up to ten bits a side of LUTs. A DSP slice multiplies 18 by 25 bits (DSP48E1) or
18 by 27 (DSP48E2, DSP58), signed; longer factors are cut into parts of 17 bits, the first of which may have
ten more, and products of parts that lie above the result are left out. Of 817 rows of instances in reports
85% have exactly as many; the others multiply by constants, whose widths are printed longer than they are.
"""

from __future__ import annotations

from typing import Literal

Size = Literal["lut", "one", "two", "four", "wide"]
"""Products that take alike long: LUTs, and 1, 2, up to 4, or more DSP slices."""

SIZES: tuple[Size, ...] = ("lut", "one", "two", "four", "wide")
_LUTS, _SHORT, _PART, _EXTRA = 10, 18, 17, 10


def long_side(dsp_kind: str) -> int:
    """Bits of the longer factor of a DSP slice."""
    return 25 if dsp_kind == "DSP48E1" else 27


def slices(a: int, b: int, result: int, side: int) -> int:
    """DSP slices of a product.

    Args:
        a, b: bits of the factors.
        result: bits of the product that are kept.
        side: see `long_side`.
    """
    if max(a, b) <= _LUTS:
        return 0
    if min(a, b) <= _SHORT and max(a, b) <= side:
        return 1
    parts = [1 if w <= side else max(2, -(-(w - _EXTRA) // _PART)) for w in (a, b)]
    if parts == [1, 1]:
        return 2
    return sum(_PART * (i + j) < result for i in range(parts[0]) for j in range(parts[1]))


def size_of(a: int, b: int, side: int) -> Size:
    """Which products it takes as long as."""
    match slices(a, b, a + b, side):
        case 0:
            return "lut"
        case 1:
            return "one"
        case 2:
            return "two"
        case n:
            return "four" if n <= 4 else "wide"
