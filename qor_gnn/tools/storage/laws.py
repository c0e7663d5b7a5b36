"""Laws of storage: how tools report memories on one kind of silicon, a file of data each.

A law is of the silicon, not of the tool: releases from 2020.2 on agree on it. Virtex UltraScale+ of grade 2 (Alveo
cards) has one of its own, as it has delays of its own from that release on; 7 series and UltraScale differ in how
they put deep memories together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from backends.tables import evidenced, fault, parsed, table
from qor_gnn.tools.operators.timing import timing_classes

DATA = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Lutram:
    """Memories in LUTs.

    Attributes:
        bits: of the largest bank that is one.
        words: that a LUT holds of one bit.
        extra: LUTs of a bank beside those.
        packed: LUTs count by the bits of the bank, and each port that reads has a register of a word; else each
            bit of a word has its own LUTs, and a bank one register.
    """

    bits: int
    words: int
    extra: int
    packed: bool


@dataclass(frozen=True, slots=True)
class BlockRam:
    """Memories in BRAM18.

    Attributes:
        shape: what a bank of more than ``words`` is put together of: its bits by the ``bits`` of a block
            (``capacity``), blocks of one shape (``columns``), or columns of different shapes (``cascades``).
        width, words: the widest shape of a block, and its words.
        bits: of a block without parity.
        rounded_to: deeper banks count by their bits (``capacity``), or a bit wide (``columns``).
        shared: the widest shape where both ports of a bank are read or written.
    """

    shape: Literal["capacity", "columns", "cascades"]
    width: int
    words: int
    bits: int
    rounded_to: int
    shared: int


@dataclass(frozen=True, slots=True)
class UltraRam:
    """When a bank becomes URAM: more than ``above_bits``, at most ``words``; block width in bits."""

    above_bits: int
    words: int
    width: int


@dataclass(frozen=True, slots=True)
class FifoRow:
    """FIFOs of up to ``words`` or up to ``bits`` (neither: any), of up to the next row's size.

    Attributes:
        lut, ff: constant and slope by width.
        level: flip-flops for each bit of a position in it.
        blocks: it is of block RAM, as a bank whose ports are both used.
        counted_to: deeper ones count as this deep.
    """

    lut: tuple[float, float]
    ff: tuple[float, float]
    words: int = 0
    bits: int = 0
    level: float = 0.0
    blocks: bool = False
    counted_to: int | None = None

    def holds(self, width: int, words: int) -> bool:
        """Whether a FIFO is of this row, if it is of none before."""
        anything = not self.words and not self.bits
        return anything or words <= self.words or width * words <= self.bits


@dataclass(frozen=True, slots=True)
class StorageRules:
    """How memories are reported.

    Attributes:
        register_depth: banks of up to that many words are registers.
        widest: words are as wide as the next power of two, and no wider than this; None: they are as wide as they are.
        lutram, bram: memories in LUTs and in block RAM.
        uram: None where a device has none.
        halves_joined: both halves of a buffer are one memory, if each side has one port.
        fifo: costs of FIFOs, the smallest first.
        counted_to: deeper banks of block RAM count as this deep; None where they count as they are.
    """

    register_depth: int
    widest: int | None
    lutram: Lutram
    bram: BlockRam
    uram: UltraRam | None
    halves_joined: bool
    fifo: tuple[FifoRow, ...]
    counted_to: int | None = None


@dataclass(frozen=True, slots=True)
class _Law:
    fabrics: tuple[str, ...]


@cache
def laws() -> Mapping[str, StorageRules]:
    """The laws by name.

    Raises:
        ToolError: W453, a table is not as it should be.
    """
    return {name: rules for name, (rules, _) in _read().items()}


@cache
def law_on(timing_class: str) -> str:
    """The law of a timing class, as `backends.devices.Device.timing_class`.

    Raises:
        ToolError: W453, no law is of its silicon.
    """
    known = timing_classes().get(timing_class)
    fabric = known.fabric if known is not None else timing_class
    for asked in (fabric, fabric.rpartition("-")[0]):
        for name, (_, fabrics) in _read().items():
            if asked in fabrics:
                return name
    raise fault("storage", f"has no law for {timing_class}")


@cache
def _read() -> Mapping[str, tuple[StorageRules, tuple[str, ...]]]:
    found: dict[str, tuple[StorageRules, tuple[str, ...]]] = {}
    for file in sorted(DATA.glob("*.json")):
        data, where = table(file, {"fabrics", "rules"})
        of = parsed(_Law, {"fabrics": data["fabrics"]}, where)
        found[file.stem] = (evidenced(StorageRules, data["rules"], f"{where}: rules"), of.fabrics)
    return found
