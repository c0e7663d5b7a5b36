"""What an array costs in hardware, by element width, words a bank, and number of banks.

The rules are data (``storage_rules.json``), one set a tool personality. They come from reports:

- 32-bit words on U280 (Vitis 2023.2): up to 128 words LUTRAM, 32 FF and 33 LUT for each 64 words;
  160–512 words 1 BRAM18, up to 1024 2, up to 2048 4; 2049–4096 1 URAM; 5700–8192 16 BRAM18; from
  11,000 on ``round(words · 32 / 16384)``.
- 64-bit words on U200 (Vitis 2025.1): up to 4096 bits no block memory; 1025–4096 words 1 URAM; else
  ``ceil(64 / 36)`` BRAM18 up to 512 words, more are rounded to a power of two, and a bank is
  counted as at most 8192 words deep (an artefact of that version's reports, not of hardware).

Both are one rule: LUTRAM up to 4096 bits, URAM for banks of more than 65536 bits and at most 4096
words, BRAM18 otherwise. A family without URAM uses BRAM18 there (no report of ours shows it).
`qor_gnn.batch.storage` is the same over many partitions at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from dsl.errors.errors import ToolError, did_you_mean
from qor_gnn.design.region import Memory, Split

_FILE = Path(__file__).parent / "storage_rules.json"


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


@dataclass(frozen=True, slots=True)
class UltraRam:
    """When a bank becomes URAM: more than ``above_bits``, at most ``words``; block width in bits."""

    above_bits: int
    words: int
    width: int


@dataclass(frozen=True, slots=True)
class FifoRow:
    """FIFOs of up to ``words`` (None: any): blocks, and LUT and FF as constant + slope · width."""

    words: int | None
    lut: tuple[float, float]
    ff: tuple[float, float]
    bram18: int = 0


@dataclass(frozen=True, slots=True)
class StorageRules:
    """How one tool version reports memories of one device family.

    Attributes:
        register_depth: banks of up to that many words are registers.
        lutram_bits: the largest bank that is LUTRAM; ``lutram_words`` a LUT holds of one bit, and
            ``lutram_extra`` LUTs come on top.
        bram_width, bram_words, bram_bits: bits a word of a BRAM18 at its full width, its words
            then, and its capacity as the reports count it (without parity).
        rounded_to: banks up to that many words are rounded up to a power of two, deeper ones count
            by their bits.
        counted_to: deeper banks count as this deep; None where they count as they are.
        uram: None where the family has none.
    """

    name: str
    register_depth: int
    lutram_bits: int
    lutram_words: int
    lutram_extra: int
    bram_width: int
    bram_words: int
    bram_bits: int
    rounded_to: int
    counted_to: int | None
    uram: UltraRam | None
    fifo: tuple[FifoRow, ...]


Banks = tuple[tuple[int, int], ...]
"""Banks by size: (words, how many of them)."""


@cache
def storage_rules(name: str) -> StorageRules:
    """The rules of a tool personality.

    Raises:
        ToolError: W450, there are none of that name.
    """
    data = json.loads(_FILE.read_text(encoding="utf-8"))
    if name not in data:
        message = f"no storage rules for a tool personality '{name}'"
        raise ToolError("W450", message, help=did_you_mean(name, data))
    return _read(name, data)


def _read(name: str, data: Mapping[str, Mapping[str, Any]]) -> StorageRules:
    row = dict(data[name])
    base = row.pop("like", None)
    if base is not None:
        row = {**data[base], **row}
    uram, fifo = row.pop("uram"), row.pop("fifo")
    rows = tuple(
        FifoRow(f["words"], tuple(f["lut"]), tuple(f["ff"]), f.get("bram18", 0)) for f in fifo
    )
    return StorageRules(name=name, **row, uram=UltraRam(**uram) if uram else None, fifo=rows)


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
