"""What an array costs in hardware, by element width, words a bank, and number of banks.

The figures are data, a law for each kind of silicon (`qor_gnn.tools.storage`), and say there where they come from.
One rule is behind them: LUTRAM up to some bits, URAM for larger banks of not too many words, BRAM18 otherwise, also
in a family without URAM.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Literal

from polyhedral.banks.splits import Split
from qor_gnn.design.region import Memory
from qor_gnn.tools.personality import personality
from qor_gnn.tools.storage.laws import BlockRam, StorageRules, UltraRam


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
        size = split.words(extent)
        words *= size
        count *= -(-extent // size) if split.kind == "block" else min(split.factor, extent)
    return ((words, count),)


# ------------------------------------------------------------------------------------------- cost


def memory_cost(memory: Memory, rules: StorageRules, both: bool = False) -> StorageCost:
    """What an array costs: its own width, banks and binding (see `storage`)."""
    width = getattr(memory.dtype, "width", 32)
    impl: Any = memory.impl if memory.impl in ("register", "lutram", "bram", "uram") else ""
    return storage(width, banks_of(memory.shape, memory.splits), rules, impl, both=both)


def storage(
    width: int,
    banks: Banks,
    rules: StorageRules,
    impl: Impl = "",
    copies: int = 1,
    both: bool = False,
) -> StorageCost:
    """What an array of ``width``-bit elements costs.

    Args:
        width: bits an element.
        banks: see `banks_of`.
        rules: of the device's silicon.
        impl: what it was bound to; the tool chooses where that is empty or ``auto``.
        copies: of every bank; a memory of one write and n read ports (``ram_1wnr``) has n.
        both: a bank is read, or written, through both ports in one state.
    """
    total = StorageCost()
    for words, count in banks:
        total = total.plus(bank_cost(width, words, rules, impl, both).times(count * copies))
    return total


@lru_cache(maxsize=65536)
def bank_cost(
    width: int, words: int, rules: StorageRules, impl: Impl = "", both: bool = False
) -> StorageCost:
    """What one bank costs (see `storage`)."""
    if words <= 0:
        return StorageCost()
    bits = width if rules.widest is None else min(_power(width), rules.widest)
    match impl if impl not in ("", "auto") else _chosen(bits, words, rules):
        case "register":
            return StorageCost(ff=width * words, kind=Kind.REGISTERS)
        case "lutram":
            return _lutram(bits, words, rules, both)
        case "uram":
            block = rules.uram or UltraRam(0, 4096, 72)
            blocks = -(-width // block.width) * -(-words // block.words)
            return StorageCost(uram=blocks, kind=Kind.URAM)
        case _:
            deep = min(words, rules.counted_to or words)
            return StorageCost(bram18=block_rams(bits, deep, rules.bram, both), kind=Kind.BRAM)


def _power(number: int) -> int:
    """The next power of two."""
    return 1 << (number - 1).bit_length()


def _chosen(width: int, words: int, rules: StorageRules) -> Impl:
    bits = width * words
    if words <= rules.register_depth:
        return "register"
    if bits <= rules.lutram.bits:
        return "lutram"
    if rules.uram is not None and bits > rules.uram.above_bits and words <= rules.uram.words:
        return "uram"
    return "bram"


def _lutram(width: int, words: int, rules: StorageRules, both: bool) -> StorageCost:
    law = rules.lutram
    lut = -(-width * words // law.words) if law.packed else width * -(-words // law.words)
    ff = 2 * width if both and law.packed else width
    return StorageCost(lut + law.extra, ff, kind=Kind.LUTRAM)


# ------------------------------------------------------------------------------------- block RAM


_PARITY = (36, 18, 9)
_COLUMNS = (*_PARITY, 4, 2, 1)
"""Widths of the words of a BRAM18; those with parity have all of its 18,432 bits (AMD UG473 and UG573)."""


def block_rams(width: int, words: int, law: BlockRam, both: bool) -> int:
    """BRAM18 of a bank.

    Args:
        width, words: of the bank.
        law: of the silicon.
        both: both ports of the bank are read, or written, in one state.
    """
    widest = law.shared if both else law.width
    if words <= law.words:
        return -(-width // widest)
    if law.shape == "cascades":
        return _cascades(width, words, widest)
    deep = _power(words)
    if law.shape == "columns" and deep <= law.rounded_to:
        shapes = (c for c in _COLUMNS if c <= widest)
        return min(-(-width // c) * -(-deep // _words(c)) for c in shapes)
    if law.shape == "columns" or words <= law.rounded_to:
        return -(-width * deep // law.bits)
    return (2 * width * words + law.bits) // (2 * law.bits)


def _words(column: int) -> int:
    """Words of a BRAM18 whose words have so many bits."""
    return (18432 if column in _PARITY else 16384) // column


def _cascades(width: int, words: int, widest: int) -> int:
    """Blocks that are deep enough each, or columns beside each other, the widest first: whichever are fewer."""
    columns = [c for c in _COLUMNS if c <= widest]
    single = next((c for c in columns if words <= _words(c)), None)
    blocks, rest = 0, width
    for column in columns:
        blocks += rest // column * -(-words // _words(column))
        rest %= column
    return blocks if single is None else min(blocks, -(-width // single))


# ------------------------------------------------------------------------------ channels of stages


def ping_pong(width: int, words: int, ports: int, rules: StorageRules) -> StorageCost:
    """A buffer of two halves between two stages of a dataflow region.

    On some silicon both halves are one memory of twice the words, if there is one port for each side; with two
    ports, and elsewhere, they are two memories.

    Raises:
        ValueError: neither one port nor two.
    """
    if ports not in (1, 2):
        raise ValueError(f"a memory has one port or two, not {ports}")
    if ports == 1 and rules.halves_joined:
        return bank_cost(width, 2 * words, rules)
    return bank_cost(width, words, rules, both=ports == 2).times(2)


def fifo(width: int, words: int, rules: StorageRules) -> StorageCost:
    """A FIFO. The slope of its LUTs by width is assumed.

    On Virtex UltraScale+ of grade 2 the report's own cap of 512 words is kept: it counts too few BRAM18.
    """
    bits = width if rules.widest is None else _power(width)
    row = next(r for r in rules.fifo if r.holds(bits, words))
    deep = min(words, row.counted_to or words)
    lut = max(0, round(row.lut[0] + row.lut[1] * width))
    ff = round(row.ff[0] + row.ff[1] * bits + row.level * (max(1, deep) - 1).bit_length())
    blocks = block_rams(bits, deep, rules.bram, True) if row.blocks else 0
    return StorageCost(lut, ff, blocks, 0, Kind.BRAM if blocks else Kind.LUTRAM)
