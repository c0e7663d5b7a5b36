"""Tables of constants are as narrow as what is in them.

A tool knows every element of an array that nothing stores to, and keeps no bits that all of them share with their sign:
16 angles of 16 bits are a ROM of 12 (Jarwy/2022FALL_HLS_LabC, 2021.2), coefficients of 32 bits that are below 32 one of
5, and factors of 5 bits (henrikhestnes/CSE237C, 2021.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from dsl.expressions.types import DType, FixedType, IntType
from qor_gnn.design.value_ranges import Range, bits


def word_type(dtype: DType, contents: Sequence[int]) -> DType:
    """The type of a table's words: that of its elements, or the integer that holds all of them.

    Args:
        dtype: of the elements.
        contents: raw words, as `dsl.programs.program.Array` has them; () of what is no table.
    """
    if not contents or not isinstance(dtype, IntType | FixedType):
        return dtype
    found: Range = min(contents), max(contents)
    width = bits(found)
    return IntType(width, found[0] < 0) if width < dtype.width else dtype
