"""A design, or the body of a loop, as processes: which nests are whose, and what lies between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qor_gnn.design.region import (
    Channel,
    Function,
    Kernel,
    Loop,
    Node,
    Statement,
    loops_in,
    walk,
)

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
    functions = tuple(
        Function(f"{whole.name}_{processes[n][0]}", nodes, whole.symbols)
        for n, nodes in bodies_of(whole.body, processes).items()
    )
    channels = tuple(_channels(functions, kernel, depths))
    streams = {c.memory for c in channels if c.depth is not None}
    memories = tuple(
        replace(m, storage=_FIFO_PORTS) if m.name in streams else m for m in kernel.memories
    )
    return replace(kernel, memories=memories, functions=functions, dataflow=True, channels=channels)


def bodies_of(
    nodes: Sequence[Node], processes: Sequence[Sequence[str]]
) -> dict[int, tuple[Node, ...]]:
    """The nodes of each process that has any, by its number.

    Args:
        nodes: of the region.
        processes: the statements of each.
    """
    numbers = {name: n for n, names in enumerate(processes) for name in names}
    bodies: dict[int, list[Node]] = {}
    for node in nodes:
        first = next((s.name for s in walk((node,)) if isinstance(s, Statement)), None)
        if first is not None:
            bodies.setdefault(numbers[first], []).append(node)
    return {n: tuple(bodies[n]) for n in sorted(bodies)}


def loop_channels(loop: Loop) -> tuple[Channel, ...]:
    """What goes between the processes of a loop whose body is a region: memories of two halves; ``producer``
    and ``consumer`` count the processes that have nodes.
    """
    bodies = bodies_of(loop.body, loop.processes)
    functions = [Function("", nodes) for nodes in bodies.values()]
    writes, reads = _uses(functions)
    return tuple(
        Channel(name, min(producers), min(consumers))
        for name, producers in writes.items()
        if (consumers := reads.get(name, set()) - producers)
    )


def halves(kernel: Kernel) -> tuple[Channel, ...]:
    """The channels of all loops whose bodies are regions."""
    return tuple(
        channel
        for function in kernel.functions
        for loop in loops_in(function.body)
        if loop.processes
        for channel in loop_channels(loop)
    )


def _uses(functions: Sequence[Function]) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """Which functions write each memory, and which read it."""
    writes: dict[str, set[int]] = {}
    reads: dict[str, set[int]] = {}
    for number, function in enumerate(functions):
        for node in walk(function.body):
            if isinstance(node, Statement):
                writes.setdefault(node.target.memory, set()).add(number)
                for op in node.ops:
                    if op.kind == "load" and op.access is not None:
                        reads.setdefault(op.access.memory, set()).add(number)
    return writes, reads


def _channels(
    functions: Sequence[Function], kernel: Kernel, depths: Mapping[str, int]
) -> list[Channel]:
    writes, reads = _uses(functions)
    found = []
    for memory in kernel.memories:
        producers = writes.get(memory.name, set())
        consumers = reads.get(memory.name, set()) - producers
        if not memory.argument and producers and consumers:
            channel = Channel(memory.name, min(producers), min(consumers), depths.get(memory.name))
            found.append(channel)
    return found
