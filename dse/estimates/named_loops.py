"""The loops of a design that a step of its schedule names."""

from __future__ import annotations

from collections.abc import Iterator

from dse.estimates.estimation import Estimation
from qor_gnn.design.region import Guard, Loop, Node, Statement, walk

Placed = tuple[Loop, tuple[Loop, ...]]
"""A loop and those around it."""


def loops_named(found: Estimation, name: str) -> list[Placed]:
    """The loops that a step names, ``i`` or ``S0.i``."""
    stmt, _, own = name.rpartition(".")
    every = [p for f in found.regions.functions for p in _placed(f.body, ())]
    return [
        (loop, around) for loop, around in every
        if loop.name == own and (not stmt or stmt in statements_of(loop))
    ]  # fmt: skip


def _placed(nodes: tuple[Node, ...], around: tuple[Loop, ...]) -> Iterator[Placed]:
    for node in nodes:
        if isinstance(node, Loop):
            yield node, around
            yield from _placed(node.body, (*around, node))
        elif isinstance(node, Guard):
            yield from _placed(node.body, around)


def statements_of(loop: Loop) -> set[str]:
    """Names of the statements in a loop."""
    return {n.name for n in walk((loop,)) if isinstance(n, Statement)}
