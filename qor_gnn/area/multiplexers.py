"""What multiplexers cost, in LUTs of 32-bit (and narrower) inputs: tables read from reports.

The tool books a multiplexer by its inputs alone. Sources: Vitis HLS 2023.2 reports on xcu280 (2 to
17, 25, 33, 65 and 129 inputs), and differences of Vitis HLS 2022.1 designs on xczu9eg (the rest).
"""

from __future__ import annotations

from functools import cache

ADDER = 7
"""LUTs of an adder besides one for each bit."""

_DIVIDED = 12  # bits of an index from which on the adders around its division are dearer
_DIVIDED_MORE = 24  # LUTs for each bit more

_INPUTS: dict[int, int] = {
    1: 0, 2: 9, 3: 14, 4: 20, 5: 26, 6: 31, 7: 37, 8: 43, 9: 49, 10: 54, 11: 59, 12: 65, 16: 65,
    17: 81, 23: 116, 25: 123, 33: 152, 64: 273, 65: 279, 129: 678,
}  # fmt: skip

# A multiplexer over the banks of a dimension, by how many banks and at which stride its access
# steps through them: some selections are decoded by fewer LUTs than their inputs say.
_BANKS: dict[tuple[int, int], float] = {
    (4, 2): 14, (8, 2): 37, (16, 2): 65, (32, 2): 148, (64, 2): 272, (8, 4): 34, (16, 4): 65,
    (32, 4): 145, (64, 4): 263, (16, 8): 33, (32, 8): 130, (64, 8): 250, (32, 16): 33,
    (64, 16): 222,
}  # fmt: skip


MOST = 385
"""Inputs of a multiplexer from which on more cost no more, but in front of banks.

State machines of 350 states cost in proportion (k2mm, Vitis HLS 2022.1); copies of a block of 118
iterations, whose ports and states have 60 to 4,700 inputs, cost nothing from the eighth on
(jacobi-1d, 2025.1), and adi's thousands of states as little.
"""


def multiplexer(inputs: int) -> float:
    """LUTs of a multiplexer of addresses, operands or states."""
    return _selected(min(inputs, MOST))


@cache
def _selected(inputs: int) -> float:
    """Between the table's entries by straight lines, and beyond its last in proportion."""
    if inputs <= 1:
        return 0.0
    known = sorted(_INPUTS)
    last = known[-1]
    if inputs >= last:
        return _INPUTS[last] * inputs / last
    above = next(n for n in known if n >= inputs)
    below = max(n for n in known if n <= inputs)
    if above == below:
        return float(_INPUTS[above])
    share = (inputs - below) / (above - below)
    return _INPUTS[below] + share * (_INPUTS[above] - _INPUTS[below])


WIDE_DIVIDER = 6_900, 8_800
"""LUTs and flip-flops of the division of an index of 64 bits by a number of banks, in logic.

The flip-flops are what `divider` says of 64 bits. Read from what copies of an outer loop copy:
jacobi-1d at 4 to 32 copies of its inner loops, with a divided store and without one.
"""


def divider(width: int) -> tuple[int, int]:
    """LUTs and flip-flops of an index's division by a number of banks, in logic.

    A pipelined divider: four stages more than the index has bits, each with what is left of the
    index, the quotient so far, and a subtraction.

    Args:
        width: bits of the index.
    """
    return width * (width + 4), (2 * width + 1) * (width + 4)


def division_adders(width: int, banks: int) -> int:
    """LUTs around a division in DSP slices: the index's difference to the quotient's multiple.

    It needs be no wider than the remainder. Labels of Vitis HLS 2025.1 on xcu200 want some 10 in
    gemm-ncubed with 12 bits, 80 to 120 in stencil-3d with 16.

    Args:
        width: bits of the index.
        banks: their number.
    """
    return (banks - 1).bit_length() + ADDER + _DIVIDED_MORE * max(0, width - _DIVIDED)


def subtraction(width: int, banks: int) -> int:
    """LUTs of an index that needs no division: its adder, a comparison, and the banks' subtraction.

    Args:
        width: bits of the index.
        banks: their number.
    """
    return width + ADDER + 2 * ((banks - 1).bit_length() + ADDER)


@cache
def bank_multiplexer(factor: int, stride: int, reached: int | None = None) -> float:
    """LUTs to select among the ``factor // stride`` banks that a load may be in.

    Args:
        factor: banks of the dimension.
        stride: the bank is known modulo this.
        reached: how many it is in indeed, if fewer.
    """
    possible = factor // stride
    if reached is not None and reached < possible:
        return _selected(reached)
    return float(_BANKS.get((factor, stride), _selected(possible))) if possible > 1 else 0.0
