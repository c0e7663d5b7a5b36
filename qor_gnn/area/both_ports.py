"""Through which ports arrays are read and written: of a bank that is through both in one state block RAMs are narrower."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD
from qor_gnn.body.ports import ANY
from qor_gnn.schedule.regions import Region, bodies_in


def both_ports(functions: Sequence[Sequence[Region]]) -> frozenset[str]:
    """Names of arrays of which an iteration reads, or writes, one bank twice, if it has two ports for that.

    Accesses of one iteration are scheduled as early as they can be, so that two of them meet in a state
    where there is a port for each.

    Args:
        functions: the scheduled regions of each function.
    """
    bodies = (body for regions in functions for body in bodies_in(regions))
    return frozenset(name for body in bodies for name in _met(body))


def read_in(functions: Sequence[Sequence[Region]]) -> frozenset[str]:
    """Names of arrays that some load reads: not those of tables whose elements are constants in all copies.

    Args:
        functions: the scheduled regions of each function.
    """
    bodies = (body for regions in functions for body in bodies_in(regions))
    return frozenset(name for body in bodies for name in _read(body))


def _read(body: Body) -> Iterator[str]:
    graph, table = body.graph, body.graph.addresses
    for kind, address in zip(graph.kind, graph.address, strict=True):
        if kind == LOAD and address >= 0:
            yield table.memory(address).name
    for taken in body.ports.values():  # what is loaded where data say has no address
        for resource, _ in taken:
            yield table.memories[body.port_keys[resource][0]].name


def _met(body: Body) -> Iterator[str]:
    uses = Counter(pair for taken in body.ports.values() for pair in taken)
    for (resource, capacity), count in uses.items():
        memory, kind, _ = body.port_keys[resource]
        if kind != ANY and count > 1 and capacity > 1:
            yield body.graph.addresses.memories[memory].name
