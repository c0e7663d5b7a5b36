"""What an array costs in hardware, by element width, words a bank, and number of banks.

The figures are data (``memories.json`` of a tool version), and say there where they come from. One rule is
behind them: LUTRAM up to some bits, URAM for larger banks of not too many words, BRAM18 otherwise, also in
a family without URAM.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Literal

from qor_gnn.design.region import Memory, Split
from qor_gnn.tools.memories import StorageRules, UltraRam
from qor_gnn.tools.personality import personality


class Kind(Enum):
    """What an array is made of."""

    NONE = "none"  # it has no words
    REGISTERS = "registers"
    LUTRAM = "lutram"
    BRAM = "bram"
    URAM = "uram"
    MIXED = "mixed"  # banks of different sizes are made of different things


Impl = Literal["", "auto", "register", "lutram", "bram", "uram"]


@dataclass(frozen=True, slots=True)
class StorageCost:
    """LUTs, flip-flops, BRAM18 and URAM blocks of an array or a FIFO."""

    lut: int = 0
    ff: int = 0
    bram18: int = 0
    uram: int = 0
    kind: Kind = Kind.NONE

    def times(self, count: int) -> StorageCost:
        """``count`` of them."""
        return StorageCost(
            count * self.lut,
            count * self.ff,
            count * self.bram18,
            count * self.uram,
            self.kind if count else Kind.NONE,
        )

    def plus(self, other: StorageCost) -> StorageCost:
        """Both of them."""
        kinds = {self.kind, other.kind} - {Kind.NONE}
        kind = kinds.pop() if len(kinds) == 1 else Kind.MIXED if kinds else Kind.NONE
        return StorageCost(
            self.lut + other.lut,
            self.ff + other.ff,
            self.bram18 + other.bram18,
            self.uram + other.uram,
            kind,
        )


Banks = tuple[tuple[int, int], ...]
"""Banks by size: (words, how many of them)."""


def storage_rules(name: str) -> StorageRules:
    """What memories of a tool version cost.

    Raises:
        ToolError: W450, there is none of that name.
    """
    return personality(name).memories.storage


# ------------------------------------------------------------------------------------------ banks


@lru_cache(maxsize=65536)
def banks_of(shape: tuple[int, ...], splits: tuple[Split, ...]) -> Banks:
    """The banks of a partitioned array.

    Every bank of a dimension of extent N split by f has ceil(N / f) elements, also where f does
    not divide N and some hold fewer: in the U200 data the reports count them so in each of the 17
    designs in which that can be told. Blocks behind the end of a dimension are left out.
    """
    words, count = 1, 1
    for extent, split in zip(shape, splits, strict=True):
        size = -(-extent // min(split.factor, extent))
        words *= size
        count *= -(-extent // size) if split.kind == "block" else min(split.factor, extent)
    return ((words, count),)


# ------------------------------------------------------------------------------------------- cost


def memory_cost(memory: Memory, rules: StorageRules, copies: int = 1) -> StorageCost:
    """What an array costs: its own width, banks and binding (see `storage`)."""
    width = getattr(memory.dtype, "width", 32)
    impl: Any = memory.impl if memory.impl in ("register", "lutram", "bram", "uram") else ""
    return storage(width, banks_of(memory.shape, memory.splits), rules, impl, copies)


def storage(
    width: int, banks: Banks, rules: StorageRules, impl: Impl = "", copies: int = 1
) -> StorageCost:
    """What an array of ``width``-bit elements costs.

    Args:
        width: bits an element.
        banks: see `banks_of`.
        rules: of the tool and device family.
        impl: what it was bound to; the tool chooses where that is empty or ``auto``.
        copies: of every bank; a memory of one write and n read ports (``ram_1wnr``) has n.
    """
    total = StorageCost()
    for words, count in banks:
        total = total.plus(bank_cost(width, words, rules, impl).times(count * copies))
    return total


@lru_cache(maxsize=65536)
def bank_cost(width: int, words: int, rules: StorageRules, impl: Impl = "") -> StorageCost:
    """What one bank costs."""
    if words <= 0:
        return StorageCost()
    match impl if impl not in ("", "auto") else _chosen(width, words, rules):
        case "register":
            return StorageCost(ff=width * words, kind=Kind.REGISTERS)
        case "lutram":
            lut = width * -(-words // rules.lutram_words) + rules.lutram_extra
            return StorageCost(lut, width, kind=Kind.LUTRAM)
        case "uram":
            block = rules.uram or UltraRam(0, 4096, 72)
            blocks = -(-width // block.width) * -(-words // block.words)
            return StorageCost(uram=blocks, kind=Kind.URAM)
        case _:
            return StorageCost(bram18=_bram18(width, words, rules), kind=Kind.BRAM)


def _chosen(width: int, words: int, rules: StorageRules) -> Impl:
    bits = width * words
    if words <= rules.register_depth:
        return "register"
    if bits <= rules.lutram_bits:
        return "lutram"
    if rules.uram is not None and bits > rules.uram.above_bits and words <= rules.uram.words:
        return "uram"
    return "bram"


def _bram18(width: int, words: int, rules: StorageRules) -> int:
    if rules.counted_to is not None:
        words = min(words, rules.counted_to)
    if words <= rules.bram_words:
        return -(-width // rules.bram_width)
    if words <= rules.rounded_to:
        return -(-width * (1 << (words - 1).bit_length()) // rules.bram_bits)
    return (2 * width * words + rules.bram_bits) // (2 * rules.bram_bits)


# ------------------------------------------------------------------------------ channels of stages


def ping_pong(width: int, words: int, ports: int, rules: StorageRules) -> StorageCost:
    """A buffer of two halves between two stages of a dataflow region.

    With one port for each side both halves are one memory of twice the words; with two ports they
    are two memories.

    Raises:
        ValueError: neither one port nor two.
    """
    if ports not in (1, 2):
        raise ValueError(f"a memory has one port or two, not {ports}")
    if ports == 1:
        return bank_cost(width, 2 * words, rules)
    return bank_cost(width, words, rules).times(2)


def fifo(width: int, words: int, rules: StorageRules) -> StorageCost:
    """A FIFO. Its figures are those of 32 bits, of which the slope by width is assumed.

    Beyond 256 words the report's own cap of one BRAM18 is kept: it counts too few there.
    """
    row = next(r for r in rules.fifo if r.words is None or words <= r.words)
    lut, ff = (round(base + slope * width) for base, slope in (row.lut, row.ff))
    return StorageCost(lut, ff, row.bram18, 0, Kind.BRAM if row.bram18 else Kind.LUTRAM)
