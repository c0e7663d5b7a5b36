"""A design as processes: which nests are whose, and what lies between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qor_gnn.design.region import Channel, Function, Kernel, Node, Statement, walk

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
