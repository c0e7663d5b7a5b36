"""Values that blocks of code between pipelines compute ahead of these."""

from __future__ import annotations

from collections.abc import Container, Iterator

from qor_gnn.area.modules import Leaf
from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD
from qor_gnn.schedule.regions import Region, bodies_in

_MOST = 64
"""Operations of a block of code that may be there ahead: of 12 in symm some are, of 757 in adi none."""


def speculated(leaf: Leaf) -> set[int]:
    """What a block behind pipelines loads and computes of arrays that nothing beside it stores to.

    It is there before the pipelines are, in copies of the loop around as well, and waits for them.
    """
    return found_ahead(leaf.region, leaf.around[-1]) if leaf.around else set()


def found_ahead(block: Region, nest: Region) -> set[int]:
    """The same, of a region in a nest."""
    body, beside = block.body, nest.children
    if block.kind != "block" or body is None or not body.personality.guards.speculates:
        return set()
    if not any(region.kind == "pipeline" for region in beside):
        return set()
    if len(body.nodes) > _MOST:
        return (
            set()
        )  # what has time in long code waits until it is wanted (`qor_gnn.schedule.alap`)
    graph, table = body.graph, body.addresses
    written = {name for other in bodies_in(beside) for name in _written(other)}
    found: set[int] = set()
    for n in body.nodes:
        if graph.kind[n] == LOAD:
            free = table.memory(graph.address[n]).name not in written
        else:
            free = graph.operator[n] is not None and bool(graph.deps[n])
            free = free and found.issuperset(graph.deps[n])
        if free:
            found.add(n)
    return found


def states_left(block: Region, early: Container[int]) -> int:
    """States of a block when what is early is there before."""
    assert block.body is not None
    ways: dict[int, int] = {}
    for n in block.body.nodes:  # in program order, stores last
        if n not in early:
            at = ways.setdefault(n, 0)
            for after, distance in block.body.succs[n]:
                ways[after] = max(ways.get(after, 0), at + distance)
    return 1 + max(ways.values(), default=0)


def _written(body: Body) -> Iterator[str]:
    """Arrays and scalars that a body stores to."""
    for address in (*body.stored, *body.registers):
        yield body.addresses.memory(address).name
