"""Memories of a tool version: types of storage, their ports, and what a bank costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backends.tables import evidenced, table


@dataclass(frozen=True, slots=True)
class Ports:
    """What one bank can do in a cycle: accesses of each kind, and of both together."""

    read: int
    write: int
    both: int


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
        fifo: costs of FIFOs, the shortest first.
    """

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


@dataclass(frozen=True, slots=True)
class Types:
    """Types of storage by what ``bind_storage`` calls them.

    Attributes:
        argument, local: of arguments and of local arrays that nobody asked another one for.
        ports: of a bank of each type.
    """

    argument: str
    local: str
    ports: Mapping[str, Ports] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Memories:
    """What a tool version makes of arrays.

    Attributes:
        types: of storage, and their ports.
        storage: what banks cost.
    """

    types: Types
    storage: StorageRules

    def ports(self, storage: str | None, argument: bool) -> Ports:
        """Those of a bank.

        Args:
            storage: the type that was asked for, if one was.
            argument: the array is an argument.
        """
        chosen = storage or (self.types.argument if argument else self.types.local)
        if chosen not in self.types.ports:  # one of which this tool's tables know nothing
            chosen = self.types.argument if argument else self.types.local
        return self.types.ports[chosen]


def memories(file: Path) -> Memories:
    """The memories of a file.

    Raises:
        ToolError: W453, it is no table of memories.
    """
    data, where = table(file, {"types", "storage"})
    types = evidenced(Types, data["types"], f"{where}: types")
    return Memories(types, evidenced(StorageRules, data["storage"], f"{where}: storage"))
