"""Which arrays in memory outside pass at the same time: those of one pipeline, and of processes that overlap.

Nests follow one another, so that a port has a channel to itself while its nest runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qor_gnn.design.region import Kernel, Loop, Node, Statement, walk


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Arrays, in memory outside, that pass at the same time.

    Attributes:
        passing: their names, each with whether it is read (``"read"``) or written (``"write"``).
        overlap: processes overlap, so that what is read and what is written pass at the same time, too.
    """

    passing: frozenset[tuple[str, str]]
    overlap: bool


def at_once(kernel: Kernel) -> tuple[AtOnce, ...]:
    """The arrays of each pipeline, or of each loop whose iterations overlap, in execution order."""
    outside = {memory.name for memory in kernel.memories if memory.port is not None}
    bodies = [function.body for function in kernel.functions]
    if kernel.dataflow:
        return (_of(tuple(node for body in bodies for node in body), outside, True),)
    return tuple(one for body in bodies for one in _groups(body, outside) if one.passing)


def _groups(nodes: tuple[Node, ...], outside: set[str]) -> Iterator[AtOnce]:
    for node in nodes:
        if isinstance(node, Statement):
            yield _of((node,), outside, False)
        elif isinstance(node, Loop) and node.processes:
            yield _of((node,), outside, True)
        elif isinstance(node, Loop) and (node.ii is not None or not _has_loops(node)):
            yield _of((node,), outside, False)
        else:
            yield from _groups(node.body, outside)


def _has_loops(loop: Loop) -> bool:
    """Whether there is a loop inside that is left one."""
    return any(isinstance(node, Loop) and node.unroll != 0 for node in walk(loop.body))


def _of(nodes: tuple[Node, ...], outside: set[str], overlap: bool) -> AtOnce:
    found = set()
    for statement in (node for node in walk(nodes) if isinstance(node, Statement)):
        found.add((statement.target.memory, "write"))
        found |= {(o.access.memory, "read") for o in statement.ops if o.access is not None}
    return AtOnce(frozenset(one for one in found if one[0] in outside), overlap)
