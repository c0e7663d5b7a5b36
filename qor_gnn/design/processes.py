"""A design, or the body of a loop, as processes: which nests are whose, and what lies between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    local = [m.name for m in kernel.memories if not m.argument]
    channels = tuple(
        Channel(name, *ends, depths.get(name)) for name, ends in _between(functions, local)
    )
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
    return tuple(Channel(name, *ends) for name, ends in _between(functions))


def channels_of(kernel: Kernel) -> tuple[Channel, ...]:
    """The channels between its processes, and those in loops whose bodies are regions."""
    loops = (loop for function in kernel.functions for loop in loops_in(function.body))
    inside = (channel for loop in loops if loop.processes for channel in loop_channels(loop))
    return (*kernel.channels, *inside)


def _between(
    functions: Sequence[Function], memories: Sequence[str] | None = None
) -> Iterator[tuple[str, tuple[int, int]]]:
    """The memories that one function writes and another reads, with the numbers of the two.

    Args:
        functions: in order.
        memories: those that are asked for, in order; None for all, as they are written.
    """
    writes: dict[str, set[int]] = {}
    reads: dict[str, set[int]] = {}
    for number, function in enumerate(functions):
        for node in walk(function.body):
            if isinstance(node, Statement):
                writes.setdefault(node.target.memory, set()).add(number)
                for op in node.ops:
                    if op.kind == "load" and op.access is not None:
                        reads.setdefault(op.access.memory, set()).add(number)
    for name in writes if memories is None else memories:
        producers = writes.get(name, set())
        # What is read in front of that is memory outside, which has a second pointer.
        consumers = {
            n for n in reads.get(name, set()) - producers if producers and n > min(producers)
        }
        if consumers:
            yield name, (min(producers), min(consumers))
