"""What stands in front of a pipeline: loads and arithmetic that its loop does not change, blocks of
code, and whether they have to wait for the pipeline before.
"""

from __future__ import annotations

from collections.abc import Sequence

from qor_gnn.body import Body
from qor_gnn.graph import LOAD, STORE
from qor_gnn.scheduling import Times


def released(body: Body, times: Times) -> int:
    """States of a block until its values are there for a region that follows."""
    states = 0
    for n in body.nodes:
        kind = body.graph.kind[n]
        extra = {LOAD: 1, STORE: 0}.get(kind)
        if extra is None:
            operator = body.graph.operator[n]
            extra = operator.distance if operator is not None else 0
        states = max(states, times.start[n] + extra)
    return states


def states_before(body: Body) -> int:
    """States of the loads and the arithmetic in front of a loop: one access a port and state."""
    graph, table = body.graph, body.addresses
    loads = body.prologue_loads
    arithmetic = [n for n in body.hoisted if graph.kind[n] not in (LOAD, STORE)]
    if not loads and not arithmetic:
        return 0
    classes = table.classes([graph.address[n] for n in loads])
    taken: set[tuple[object, int]] = set()
    ready: dict[int, int] = {}
    end = 0
    for n in loads:
        memory = table.shape(graph.address[n]).memory
        banks = [(memory, where) for where in classes[graph.address[n]]]
        at = 0
        while any((bank, at) in taken for bank in banks):
            at += 1
        taken.update((bank, at) for bank in banks)
        ready[n] = at + body.personality.rules.load
        end = max(end, at + 1)
    for n in arithmetic:
        operator = graph.operator[n]
        assert operator is not None
        start = max((ready.get(d, 2) for d in graph.deps[n]), default=0)
        ready[n] = start + operator.distance
        end = max(end, ready[n])
    return end


def also_inside(body: Body) -> bool:
    """A memory that is loaded in front of a pipeline is accessed inside as well."""
    graph, table = body.graph, body.addresses
    outside = {table.shape(graph.address[n]).memory for n in body.hoisted if graph.kind[n] == LOAD}
    inside = {table.shape(graph.address[n]).memory for n in body.nodes if graph.address[n] >= 0}
    return bool(outside & inside)


def above_stores(body: Body, stored: Sequence[int]) -> bool:
    """The loads in front of a copy can be done before the earlier copies' results are stored."""
    table = body.addresses
    for n in body.prologue_loads:
        load = body.graph.address[n]
        for store in stored:
            if table.shape(load).memory != table.shape(store).memory:
                continue
            if table.memory(load).banks == 1:
                continue
            known = table.shape(load).known_bank and table.shape(store).known_bank
            if not known or table.may_share_bank(load, store):
                return False
    return True


def states_behind(block: Body, last: Body) -> int:
    """States of a block from its first load of what the pipeline in front of it leaves there.

    An accumulator that is stored behind the pipeline is not waited for.
    """
    graph = block.graph
    early = [last.graph.address[n] for n in last.graph.early_stores]
    scalars = (a for a in last.registers if last.addresses.memory(a).in_registers)
    left = {*last.store_value, *last.conditional, *early, *scalars}
    ways: dict[int, int] = {}
    states = 0
    for n in block.nodes:  # in program order, stores last
        if graph.kind[n] == LOAD and graph.address[n] in left:
            ways[n] = 0
        if n not in ways or graph.kind[n] == STORE:
            continue
        for after, distance in block.succs[n]:
            ways[after] = max(ways.get(after, 0), ways[n] + distance)
            states = max(states, ways[after])
    return states
