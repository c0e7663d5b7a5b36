"""Where accesses go, as the hardware sees it: banks that they may be in, widths of addresses."""

from __future__ import annotations

from math import ceil, gcd

from dsl.types import FixedType, FloatType, IntType
from qor_gnn.address import Addresses
from qor_gnn.region import Memory
from qor_gnn.resource_tables import bank_multiplexer

_INDEX = 32


def word(memory: Memory) -> int:
    """Bits of an element."""
    dtype = memory.dtype
    return dtype.width if isinstance(dtype, IntType | FixedType | FloatType) else _INDEX


def unknown_banks(table: Addresses, address: int) -> list[tuple[int, int]]:
    """(factor, stride) of each dimension whose bank is not known."""
    shape = table.shape(address)
    splits = table.memories[shape.memory].splits
    pairs = zip(splits, shape.moduli, strict=True)
    return [(s.factor, g) for s, g in pairs if s.factor > g]


def reached(table: Addresses, address: int) -> int:
    """Banks that an access may be in."""
    total = 1
    for factor, stride in unknown_banks(table, address):
        total *= factor // stride
    return total


def selection(table: Addresses, address: int) -> float:
    """LUTs to select the bank of a load: an inner one for each outer bank, and an outer one."""
    total, width = 0.0, 1
    for factor, stride in unknown_banks(table, address):
        total += width * bank_multiplexer(factor, stride)
        width *= factor // stride
    return total


def address_bits(table: Addresses, address: int) -> int:
    """Width of the address inside a bank."""
    memory = table.memory(address)
    words = 1
    for extent, split in zip(memory.shape, memory.splits, strict=True):
        words *= max(1, ceil(extent / split.factor))
    return (words - 1).bit_length()


def known_bits(table: Addresses, address: int) -> int:
    """Low bits of the address inside a bank that are known: they need no register.

    Of a moving subscript those that its steps leave at 0, of a fixed one all.
    """
    memory, shape = table.memory(address), table.shape(address)
    if not shape.terms:
        return 0
    factor = memory.splits[-1].factor
    if not shape.terms[-1]:
        return (ceil(memory.shape[-1] / factor) - 1).bit_length()
    stride = 0
    for _, k in shape.terms[-1]:
        stride = gcd(stride, k)
    stride //= factor
    if stride <= 1:
        return 0
    known = (stride & -stride) - 1
    row = table.consts[address][-1] // factor
    return (known & ~row).bit_count()
