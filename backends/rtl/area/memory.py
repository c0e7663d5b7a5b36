"""What memories and multipliers take of an ECP5."""

from __future__ import annotations

from math import ceil

from backends.rtl.area.netlist import Multiplier
from backends.rtl.ir.module import Memory, Style

_TILE = 18
"""Bits of an operand of MULT18X18D; a signed tile has one of them as its sign."""

_RAM_SHAPES = ((1, 16384), (2, 8192), (4, 4096), (9, 2048), (18, 1024), (36, 512))
"""Widths and depths of a DP16KD; 36 bits only with one read and one write port."""

_CELL = 6  # tables of a distributed memory of 16 x 4: four, and two for the write port


def block_rams(width: int, depth: int) -> int:
    """DP16KD of a memory with one read and one write port: the least over the shapes."""
    return min(ceil(width / w) * ceil(depth / d) for w, d in _RAM_SHAPES)


def distributed(memory: Memory) -> int:
    """Tables of one read port of a distributed memory, without the choice among its rows.

    What nothing writes has no cells of RAM: each bit of 16 words is one table of four inputs.
    """
    if memory.init:
        return memory.width * ceil(memory.depth / 16)
    return _CELL * ceil(memory.depth / 16) * ceil(memory.width / 4)


def choices(memory: Memory) -> int:
    """Multiplexers behind one read port of a memory of more rows than its cells have."""
    rows = memory.depth if memory.style is Style.REGISTERS else ceil(memory.depth / 16)
    return memory.width * (rows - 1)


def multipliers(one: Multiplier, width: int) -> int:
    """MULT18X18D of the low ``width`` bits of a product: tiles of both operands that reach into them."""
    lhs, rhs = (
        _tiles(len(bits), s) for bits, s in zip((one.lhs, one.rhs), one.signed, strict=True)
    )
    return sum((n + m) * (_TILE - 1) < width for n in range(lhs) for m in range(rhs))


def _tiles(width: int, signed: bool) -> int:
    if width <= _TILE:
        return 1
    return ceil((width - signed) / (_TILE - 1)) if signed else ceil(width / _TILE)
