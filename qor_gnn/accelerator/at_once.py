"""Which arrays in memory outside pass at the same time: those of one pipeline, and of processes that overlap.

Nests follow one another, so that a port has a channel to itself while its nest runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qor_gnn.design.region import Kernel, Loop, Node, Statement, walk

Way = tuple[str, str]
"""An array, and ``"read"`` or ``"write"``."""


@dataclass(frozen=True, slots=True)
class AtOnce:
    """What passes at the same time.

    Attributes:
        shares: of all that passes of an array in a direction, the part that passes here.
        overlap: processes overlap, so that what is read and what is written pass at the same time, too.
    """

    shares: Mapping[Way, float]
    overlap: bool


def at_once(kernel: Kernel) -> tuple[AtOnce, ...]:
    """What passes in each pipeline, or in each loop whose iterations overlap, in execution order."""
    outside = {memory.name for memory in kernel.memories if memory.port is not None}
    body = tuple(node for function in kernel.functions for node in function.body)
    groups = [((body), 1.0, True)] if kernel.dataflow else list(_groups(body, 1.0))
    counts = [_counted(nodes, times, outside) for nodes, times, _ in groups]
    total: dict[Way, float] = defaultdict(float)
    for count in counts:
        for way, elements in count.items():
            total[way] += elements
    return tuple(
        AtOnce({way: n / total[way] for way, n in count.items() if n}, overlap)
        for count, (_, _, overlap) in zip(counts, groups, strict=True)
        if count
    )


def _groups(
    nodes: tuple[Node, ...], times: float
) -> Iterator[tuple[tuple[Node, ...], float, bool]]:
    """Nodes that pass at once, how often they run, and whether they are processes."""
    for node in nodes:
        if isinstance(node, Statement):
            yield (node,), times, False
        elif isinstance(node, Loop) and node.processes:
            yield (node,), times, True
        elif isinstance(node, Loop) and (node.ii is not None or not _has_loops(node)):
            yield (node,), times, False
        else:
            more = node.trips.average if isinstance(node, Loop) else 1.0
            yield from _groups(node.body, times * more)


def _has_loops(loop: Loop) -> bool:
    """Whether there is a loop inside that is left one."""
    return any(isinstance(node, Loop) and node.unroll != 0 for node in walk(loop.body))


def _counted(nodes: tuple[Node, ...], times: float, outside: set[str]) -> dict[Way, float]:
    """Elements of arrays outside that statements access; under a condition, as if it always held."""
    found: dict[Way, float] = defaultdict(float)
    for node in nodes:
        if isinstance(node, Statement):
            reads = [op.access.memory for op in node.ops if op.access is not None]
            ways = [(node.target.memory, "write"), *((name, "read") for name in reads)]
            for way in ways:
                if way[0] in outside:
                    found[way] += times
        else:
            more = node.trips.average if isinstance(node, Loop) else 1.0
            for way, elements in _counted(node.body, times * more, outside).items():
                found[way] += elements
    return found
