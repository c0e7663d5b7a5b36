"""A design as processes: which nests are whose, what lies between them, what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qor_gnn.binding import units_of
from qor_gnn.region import Channel, Function, Kernel, Node, Statement, walk
from qor_gnn.regions import Region
from qor_gnn.resource_terms import Sums
from qor_gnn.resources import terms_of
from qor_gnn.storage import StorageCost, StorageRules, banks_of, fifo, memory_cost, ping_pong

_FIFO_PORTS = "ram_s2p"  # one word in and one out in a cycle


def in_processes(
    kernel: Kernel, processes: Sequence[Sequence[str]], depths: Mapping[str, int]
) -> Kernel:
    """The kernel with a function for each process.

    Args:
        kernel: of one function.
        processes: the statements of each, in order; none where it is no dataflow region.
        depths: words a bank of each array that is a FIFO.
    """
    if not processes:
        return kernel
    (whole,) = kernel.functions
    numbers = {name: n for n, names in enumerate(processes) for name in names}
    bodies: dict[int, list[Node]] = {}
    for node in whole.body:
        first = next((s.name for s in walk((node,)) if isinstance(s, Statement)), None)
        if first is not None:
            bodies.setdefault(numbers[first], []).append(node)
    functions = tuple(
        Function(f"{whole.name}_{processes[n][0]}", tuple(bodies[n]), whole.symbols)
        for n in sorted(bodies)
    )
    channels = tuple(_channels(functions, kernel, depths))
    streams = {c.memory for c in channels if c.depth is not None}
    memories = tuple(
        replace(m, storage=_FIFO_PORTS) if m.name in streams else m for m in kernel.memories
    )
    return replace(kernel, memories=memories, functions=functions, dataflow=True, channels=channels)


def _channels(
    functions: Sequence[Function], kernel: Kernel, depths: Mapping[str, int]
) -> list[Channel]:
    writes: dict[str, set[int]] = {}
    reads: dict[str, set[int]] = {}
    for number, function in enumerate(functions):
        for node in walk(function.body):
            if isinstance(node, Statement):
                writes.setdefault(node.target.memory, set()).add(number)
                for op in node.ops:
                    if op.kind == "load" and op.access is not None:
                        reads.setdefault(op.access.memory, set()).add(number)
    found = []
    for memory in kernel.memories:
        producers = writes.get(memory.name, set())
        consumers = reads.get(memory.name, set()) - producers
        if not memory.argument and producers and consumers:
            channel = Channel(memory.name, min(producers), min(consumers), depths.get(memory.name))
            found.append(channel)
    return found


# ------------------------------------------------------------------------------------------- cost


def without_channels(kernel: Kernel) -> Kernel:
    """The kernel as if its channels cost nothing: they are counted by `channel_cost`."""
    names = {c.memory for c in kernel.channels}
    if not names:
        return kernel
    memories = tuple(replace(m, argument=True) if m.name in names else m for m in kernel.memories)
    return replace(kernel, memories=memories)


def channels_cost(kernel: Kernel, rules: StorageRules) -> StorageCost:
    """What all channels cost."""
    total = StorageCost()
    for channel in kernel.channels:
        total = total.plus(channel_cost(kernel, channel, rules))
    return total


def channel_cost(kernel: Kernel, channel: Channel, rules: StorageRules) -> StorageCost:
    """A FIFO or two halves of each bank; a scalar is a FIFO of two words."""
    memory = kernel.memory(channel.memory)
    width = getattr(memory.dtype, "width", 32)
    if channel.depth is not None or not memory.shape:
        banks = memory.banks if memory.shape else 1
        return fifo(width, channel.depth or 2, rules).times(banks)
    if memory.in_registers or memory.impl:
        return memory_cost(memory, rules).times(2)
    total = StorageCost()
    for words, count in banks_of(memory.shape, memory.splits):
        total = total.plus(ping_pong(width, words, 1, rules).times(count))
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
