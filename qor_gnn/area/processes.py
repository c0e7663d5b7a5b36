"""What a dataflow region costs: its channels, and processes that share nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qor_gnn.area.binding import units_of
from qor_gnn.area.resources import terms_of
from qor_gnn.area.terms import Sums
from qor_gnn.design.region import Channel, Kernel
from qor_gnn.memory.storage import StorageCost, banks_of, fifo, memory_cost, ping_pong
from qor_gnn.schedule.regions import Region
from qor_gnn.tools.storage.laws import StorageRules


def without_channels(kernel: Kernel, channels: Sequence[Channel]) -> Kernel:
    """The kernel as if its channels cost nothing: they are counted by `channel_cost`."""
    names = {c.memory for c in channels}
    if not names:
        return kernel
    memories = tuple(replace(m, argument=True) if m.name in names else m for m in kernel.memories)
    return replace(kernel, memories=memories)


def channels_cost(
    kernel: Kernel,
    channels: Sequence[Channel],
    rules: StorageRules,
    both: frozenset[str] = frozenset(),
) -> StorageCost:
    """What channels of the kernel cost (see `channel_cost`)."""
    total = StorageCost()
    for channel in channels:
        total = total.plus(channel_cost(kernel, channel, rules, both))
    return total


def channel_cost(
    kernel: Kernel,
    channel: Channel,
    rules: StorageRules,
    both: frozenset[str] = frozenset(),
) -> StorageCost:
    """A FIFO or two halves of each bank; a scalar is a FIFO of two words.

    Args:
        kernel, channel: whose it is.
        rules: of the device's silicon.
        both: memories of which a side uses both ports (`qor_gnn.area.both_ports`).
    """
    memory = kernel.memory(channel.memory)
    width = getattr(memory.dtype, "width", 32)
    if channel.depth is not None or not memory.shape:
        banks = memory.banks if memory.shape else 1
        return fifo(width, channel.depth or 2, rules).times(banks)
    if memory.in_registers or memory.impl:
        return memory_cost(memory, rules, memory.name in both).times(2)
    ports = 2 if memory.name in both else 1
    total = StorageCost()
    for words, count in banks_of(memory.shape, memory.splits):
        total = total.plus(ping_pong(width, words, ports, rules).times(count))
    return total


def concurrent_units(functions: Sequence[Sequence[Region]]) -> dict[str, int]:
    """Units of processes: they run at the same time and share none."""
    total: dict[str, int] = {}
    for regions in functions:
        for core, count in units_of(regions).items():
            total[core] = total.get(core, 0) + count
    return total


def concurrent_terms(functions: Sequence[Sequence[Region]]) -> Sums:
    """Resource terms of processes: each is a module with its own units and ports."""
    total = Sums()
    for regions in functions:
        own = terms_of([regions], units_of(regions))
        for name, amount in own.lut.items():
            total.lut[name] += amount
        for name, amount in own.ff.items():
            total.ff[name] += amount
        total.lut_fixed += own.lut_fixed
        total.ff_fixed += own.ff_fixed
    total.lut["one"] = total.ff["one"] = 1
    return total
