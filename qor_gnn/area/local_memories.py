"""What the local arrays of a design cost, with the ports that their banks are used through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from qor_gnn.area.processes import channels_cost, without_channels
from qor_gnn.design.processes import channels_of
from qor_gnn.design.region import Channel, Kernel, Memory
from qor_gnn.memory.automatic_partition import copies_cost, partitioned
from qor_gnn.memory.storage import StorageCost, storage_rules
from qor_gnn.tools.personality import Personality
from qor_gnn.tools.storage.laws import StorageRules


@dataclass(frozen=True, slots=True)
class LocalMemories:
    """The local arrays, split as somebody or the tool splits them.

    Attributes:
        kernel, channels: what lies between processes of a dataflow region, and whose it is.
        arrays: all others, and how often the tool keeps each, on average over its banks.
        rules: of the device's silicon.
    """

    kernel: Kernel
    channels: Sequence[Channel]
    arrays: tuple[tuple[Memory, int | Fraction], ...]
    rules: StorageRules

    def without_constants(self, read: frozenset[str]) -> LocalMemories:
        """All but the tables that are no memories: what no load reads (all copies know which element it is), and what is
        partitioned completely, which is as many constants.

        Args:
            read: the arrays that loads read (`qor_gnn.area.both_ports.read_in`).
        """
        kept = tuple(
            (m, copies)
            for m, copies in self.arrays
            if m.contents is None or (m.name in read and not m.in_registers)
        )
        return replace(self, arrays=kept)

    def cost(self, both: frozenset[str] = frozenset()) -> StorageCost:
        """What they cost; of ``both`` a bank is read, or written, through both ports in one state."""
        total = channels_cost(self.kernel, self.channels, self.rules, both)
        for memory, copies in self.arrays:
            total = total.plus(copies_cost(memory, copies, self.rules, memory.name in both))
        return total

    def block_range(self, others: int) -> tuple[int, int] | None:
        """BRAM18, and others, if each used one port of a bank, and if each used both; None where that is the same."""
        every = frozenset(m.name for m in self.kernel.memories)
        least, most = sorted(self.cost(both).bram18 for both in (frozenset(), every))
        return (least + others, most + others) if least < most else None


def local_memories(kernel: Kernel, tool: Personality, kept: frozenset[str]) -> LocalMemories:
    """The local arrays of a design.

    Args:
        kernel: as it is written.
        tool: that splits and stores them.
        kept: as in `qor_gnn.estimate.estimate`.
    """
    channels = channels_of(kernel)
    design, copies = partitioned(without_channels(kernel, channels), tool, kept)
    arrays = tuple(
        (m, copies.get(m.name, 1)) for m in design.memories if m.shape and not m.argument
    )
    return LocalMemories(kernel, channels, arrays, storage_rules(tool.name))
