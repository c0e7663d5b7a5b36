"""FF terms of loads whose bank is the remainder of a division (`IndexDivision`).

The quotient, which is the place in the bank, is there long before the remainder. Where the ports take
the loads of all copies in an interval, each load reads every bank, and what ports deliver waits for the
remainders. Where they do not, a bank is read for the load that it is the bank of, and nothing waits: what
goes into the same operation is loaded with it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from qor_gnn.area.access_places import reached, unknown_banks
from qor_gnn.area.modules import Leaf
from qor_gnn.body.bank_divisions import alap_loads
from qor_gnn.body.graph import LOAD
from qor_gnn.body.ports import at_once

_PORTS = 2  # of a bank that is kept once
_WAITING = 2  # values that wait at each port


@dataclass(slots=True)
class Remainders:
    """Loads of a pipeline whose bank the remainder of a division tells.

    Attributes:
        loads: these, in arrays of one dimension.
        words: values that wait for remainders.
        beside: of loads that go into operations with those for which nothing waits, when they are
            wanted: they are loaded with them.
    """

    loads: set[int] = field(default_factory=set)
    words: int = 0
    beside: dict[int, int] = field(default_factory=dict)


def remainders(leaf: Leaf) -> Remainders:
    """Where the interval is more than a state."""
    found = Remainders()
    body = leaf.body
    division = body.personality.division
    if division is None or not (leaf.pipelined and leaf.period > 1):
        return found
    graph, table = body.graph, body.addresses
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for n in alap_loads(graph, body.nodes, body.variables, division):
        address = graph.address[n]
        if _divided(leaf, address):
            groups[table.shape_of[address], table.residues[address]].append(n)
    rotating: set[int] = set()
    for loads in groups.values():
        address = graph.address[loads[0]]
        ports = at_once(graph, table.shape(address).memory, LOAD, body.personality)
        if ports > _PORTS:
            continue  # kept in copies, so that each load has a port
        found.loads.update(loads)
        if len(loads) > ports * leaf.period:
            rotating.update(loads)
        else:
            each = min(_WAITING, -(-len(loads) // ports))
            found.words += reached(table, address, leaf.steps) * ports * each
    for deps in graph.deps:
        first = min((leaf.times.start[d] for d in deps if d in rotating), default=0)
        for d in deps if first else ():
            if graph.kind[d] == LOAD:
                found.beside[d] = min(first, found.beside.get(d, first))
    return found


def _divided(leaf: Leaf, address: int) -> bool:
    """Of its only subscript a division tells the bank."""
    table = leaf.body.addresses
    if len(shape := table.memory(address).shape) > 1:
        return False
    unknown = unknown_banks(table, address, leaf.steps)
    return any(one.factor < shape[0] and one.factor & (one.factor - 1) for one in unknown)
