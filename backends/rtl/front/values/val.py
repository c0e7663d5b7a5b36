"""Integers of known range: what the results of operations are while a block is built."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expressions.affine import Constraint

Guard = tuple[Constraint, ...]
"""A conjunction over loop variables, in the order of its text."""


@dataclass(frozen=True, slots=True)
class Val:
    """An integer in ``low..high``: what the result of ``op`` is when read as ``signed``.

    Of a constant ``op`` is −1: its operation is made when it is used. A float is its 32 bits.
    """

    op: int
    signed: bool
    low: int
    high: int

    @property
    def const(self) -> int | None:
        """The number, where it is known."""
        return self.low if self.low == self.high else None

    @property
    def width(self) -> int:
        """Bits that hold every value."""
        return bits_of(self.low, self.high)


def bits_of(low: int, high: int) -> int:
    """Bits of a number in ``low..high``; with a sign where ``low`` is negative."""
    if low < 0:
        return max((~low).bit_length(), (high if high >= 0 else ~high).bit_length()) + 1
    return max(1, high.bit_length())


def signed_range(width: int) -> tuple[int, int]:
    """Of two's complement."""
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def constant(number: int) -> Val:
    """A known number."""
    return Val(-1, number < 0, number, number)


TRUE, FALSE = constant(1), constant(0)
