"""Bursts: consecutive words of memory outside, asked for once.

A nest that goes along memory without a gap is one burst, and its loops are flattened into one (so are all 70 burst
loops of prometheus-u55c that have another loop in or around them; of 8 the inner one goes over the lanes of a word). Where a row of a tile ends inside of a row of the array, each row
is a burst of its own: its request stands in the loop around, which is flattened with it no more (UG1399, conditions
of bursts; no label shows it). So each row waits for memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from qor_gnn.design.region import Access, Kernel, Loop, Memory, Node, accesses_in, loops_in


def burst_loops(kernel: Kernel) -> frozenset[str]:
    """The variables of loops that are a burst in each iteration of the loop around."""
    ports = {m.name: m for m in kernel.memories if m.port is not None}
    if not ports:
        return frozenset()
    found: set[str] = set()
    for function in kernel.functions:
        for chain in _chains(function.body):
            for access in accesses_in(chain[-1].body):
                if access.memory in ports:
                    found |= set(_gap(access, ports[access.memory], chain))
    return frozenset(found)


def _chains(nodes: tuple[Node, ...]) -> Iterator[tuple[Loop, ...]]:
    """Loops each of which is all that is in the one around, down to one that has no loop left to run."""
    loops = loops_in(nodes)
    inside = {id(inner) for loop in loops for inner in _sole(loop)}
    for loop in loops:
        chain = [loop]
        while inner := list(_sole(chain[-1])):
            chain += inner
        last = chain[-1]
        left = [x for x in loops_in(last.body) if x.unroll != 0]
        if len(chain) > 1 and not left and id(loop) not in inside:
            yield tuple(chain)


def _sole(loop: Loop) -> Iterator[Loop]:
    """The loop that is all that is in one, if it is not unrolled completely."""
    if len(loop.body) == 1 and isinstance(only := loop.body[0], Loop) and only.unroll != 0:
        yield only


def _gap(access: Access, memory: Memory, chain: tuple[Loop, ...]) -> Iterator[str]:
    """The outermost loop of a chain that still goes along memory without a gap, if one around it does not."""
    steps = word_steps(access, memory, chain)
    span = 1
    for n in reversed(range(len(chain))):
        trips = chain[n].constant_trips
        if n < len(chain) - 1 and steps[n] != span:
            yield chain[n + 1].iv
            return
        if steps[n] != span or trips is None:
            return
        span *= trips


def word_steps(access: Access, memory: Memory, chain: tuple[Loop, ...]) -> list[int]:
    """How many words further each loop of a chain goes in an iteration."""
    lanes = memory.port.lanes if memory.port is not None else 0
    shape = list(memory.shape)
    if lanes:
        shape[-1] = -(-shape[-1] // lanes)
    found = []
    for loop in chain:
        step = 0
        for d, index in enumerate(access.indices):
            more = index.coefficient(loop.iv)
            if lanes and d == len(shape) - 1:
                more //= lanes
            step += more * prod(shape[d + 1 :])
        found.append(step * loop.step)
    return found
