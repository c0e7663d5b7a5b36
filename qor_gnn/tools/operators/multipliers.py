"""Multipliers of integers: what a product of two widths is made of, in DSP slices.

Vitis HLS makes a product of up to ten bits a side of LUTs. A DSP slice multiplies 18 by 25 bits (DSP48E1) or
18 by 27 (DSP48E2, DSP58), signed; longer factors are cut into parts of 17 bits, the first of which may be as long as
the longer factor of a slice, and products of parts that lie above the result are left out. Of 883 rows of instances in
reports 89% have exactly as many: all 51 up to 2020.1 and 97% of 583 from 2023.1 on, but 66% of 249 of 2020.2 to 2022.2,
which mostly take one slice less for a product of several, where its last part is small (32 by 5 to 9 bits are one), or
multiply by constants, whose widths are printed longer than they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Size = Literal["lut", "one", "two", "four", "wide"]
"""Products that take alike long: LUTs, and 1, 2, up to 4, or more DSP slices."""

DSP, FABRIC = "dsp", "fabric"
IMPLEMENTATIONS = (DSP, FABRIC)
"""What may be asked for."""

SIZES: tuple[Size, ...] = ("lut", "one", "two", "four", "wide")
_LUTS, _SHORT, _PART = 10, 18, 17
_FEW = (
    4  # bits of a factor, with which no product takes a slice: none of 27 rows, of five bits all 15
)
ONE_SUM = 1
"""Bits of a factor that one sum or difference of two shifted copies multiplies with, as of a number of two signed
digits (`qor_gnn.design.operations`): it takes no slice. Rows of 20, 60 and 80 words in reports of 2022.2 and 2023.2, and
products of data with 3 to 18 in 2022.1, where 11, 13 and 19 take slices (docs/lab/schedule.md)."""

_FEW_LUT = 0.63
"""LUTs a bit of the longer factor then: the median of those rows, but for one project's of a single LUT each."""

LUT_PRODUCT = (1, 8, 9, 13, 17, 23, 33, 40, 50, 62, 140, 166, 192, 218, 244, 270, 321)
"""LUTs of a product without DSP slices, by the width of its longer factor, of every family: each from two or
more projects, of 8 and 10 bits from 21 and 10; two projects on Zynq-7000 have more. Above ten bits it is made so
only where it is asked for: of two projects, 12 and 14 bits between the others."""


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
    parts = [1 if w <= side else max(2, -(-(w - (side - _PART)) // _PART)) for w in (a, b)]
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


_LIKE: dict[Size, int] = {"one": 16, "two": 20, "four": 32, "wide": 64}
"""A width of two equal factors whose product takes as long."""


@dataclass(frozen=True, slots=True)
class Product:
    """A product of integers.

    Attributes:
        long, short: bits of the factors.
        width: bits of the product that are kept.
        side: see `long_side`.
        impl: what is asked for: ``dsp``, ``fabric``, or nothing.
    """

    long: int
    short: int
    width: int
    side: int
    impl: str = ""

    @property
    def by_few_bits(self) -> bool:
        """Nothing is left for a slice: a sum or two of shifted copies, one by most numbers below eight.

        Reports time it as a product of its widths all the same: 32 by 2 bits take two stages at 10 ns on Zynq.
        """
        return self.short <= _FEW and self.long > _LUTS and self.impl != DSP

    @property
    def of_luts(self) -> bool:
        """It takes no DSP slice; of more than few bits only where LUTs are fast enough."""
        if self.impl == DSP:
            return False
        return self.by_few_bits or self.long <= self._most

    @property
    def _most(self) -> int:
        """Bits of the longest factors of LUTs; of longer ones no report tells what they take."""
        return len(LUT_PRODUCT) if self.impl == FABRIC else _LUTS

    @property
    def in_a_slice(self) -> bool:
        """One slice multiplies it, and can add to it; of LUTs nobody asked for."""
        return self.impl != FABRIC and self.short <= _SHORT and self.long <= self.side

    @property
    def luts(self) -> int:
        """Of a product of LUTs."""
        return round(_FEW_LUT * self.long) if self.by_few_bits else LUT_PRODUCT[self.long - 1]

    @property
    def slices(self) -> int:
        """DSP slices, where LUTs are fast enough."""
        if self.of_luts:
            return 0
        return max(1, slices(self.long, self.short, self.width, self.side))

    @property
    def like(self) -> int:
        """The width of two equal factors whose product takes as long."""
        if self.of_luts and not self.by_few_bits:
            return min(self.long, _LUTS)
        size = size_of(self.long, self.short, self.side)
        return _LIKE["one" if size == "lut" else size]
