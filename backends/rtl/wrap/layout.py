"""Where the banks and scalars of a kernel lie on the 32-bit host bus of its wrapper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backends.rtl.design import BankPort, RtlDesign

WORD = 32
"""Bits of the host bus."""


@dataclass(frozen=True, slots=True)
class Window:
    """The words of one bank, or of one scalar (one element deep).

    ``select`` is its number, ``lanes`` the words of an element, the lowest bits in lane 0. What the
    host may do is ``written`` and ``readable``.
    """

    name: str
    select: int
    width: int
    depth: int
    written: bool
    readable: bool
    port: BankPort | None = None

    @property
    def lanes(self) -> int:
        """Words of an element."""
        return -(-self.width // WORD)


@dataclass(frozen=True, slots=True)
class Layout:
    """The address of every window: ``{select, element, lane}``, of fixed numbers of bits."""

    windows: tuple[Window, ...]
    select_bits: int
    element_bits: int
    lane_bits: int

    @property
    def bits(self) -> int:
        """Bits of a word address."""
        return self.select_bits + self.element_bits + self.lane_bits

    def address(self, window: Window, element: int, lane: int = 0) -> int:
        """The word address of a lane of an element."""
        if not (0 <= element < window.depth and 0 <= lane < window.lanes):
            raise ValueError(f"{window.name} has no element {element}, lane {lane}")
        return ((window.select << self.element_bits | element) << self.lane_bits) | lane


def layout_of(design: RtlDesign) -> Layout:
    """The windows of a design: its scalars first, then the banks in the order of its ports."""
    windows = tuple(_windows(design))
    return Layout(
        windows,
        _bits(len(windows)),
        _bits(max((w.depth for w in windows), default=1)),
        max((w.lanes - 1).bit_length() for w in windows) if windows else 0,
    )


def _windows(design: RtlDesign) -> Iterator[Window]:
    number = 0
    for scalar in design.scalars:
        yield Window(scalar.name, number, scalar.width, 1, written=True, readable=False)
        number += 1
    for port in design.banks:
        name = f"{port.array}[{port.bank}]"
        yield Window(name, number, port.width, port.depth, port.reads, port.writes, port)
        number += 1


def _bits(count: int) -> int:
    return max(1, (count - 1).bit_length())


def elements(values: Sequence[int], window: Window) -> Iterator[tuple[int, int, int]]:
    """(element, lane, word) for each word of the raw values of a window."""
    for n, value in enumerate(values):
        raw = value & ((1 << window.width) - 1)
        for lane in range(window.lanes):
            yield n, lane, (raw >> (WORD * lane)) & ((1 << WORD) - 1)
