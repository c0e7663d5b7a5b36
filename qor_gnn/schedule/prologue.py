"""What stands in front of a pipeline: loads and arithmetic that its loop does not change, blocks of
code, and whether they have to wait for the pipeline before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.body.ports import at_once
from qor_gnn.schedule.list_schedule import Times


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


def loads_before(body: Body) -> int:
    """States in which the loads in front of a loop start, as its memories' ports allow."""
    return _started(body, body.prologue_loads)[1]


def stores_behind(body: Body) -> int:
    """States of the stores of promoted elements behind a loop."""
    graph, personality = body.graph, body.personality
    classes = body.addresses.classes(body.epilogue)
    stores: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for address in body.epilogue:
        memory = body.addresses.shape(address).memory
        stores.update((memory, where) for where in classes[address])
    ports = {m: at_once(graph, m, STORE, personality) for m, _ in stores}
    return max((-(-n // ports[m]) for (m, _), n in stores.items()), default=0)


def _started(body: Body, loads: Sequence[int]) -> tuple[dict[int, int], int]:
    """When the result of each load is there, and how many states they take to start."""
    graph, table = body.graph, body.addresses
    classes = table.classes([graph.address[n] for n in loads])
    taken: Counter[tuple[object, int]] = Counter()
    free: Counter[object] = Counter()  # of each bank the first state in which a port is
    ready: dict[int, int] = {}
    end = 0
    for n in loads:
        memory = table.shape(graph.address[n]).memory
        ports = at_once(graph, memory, LOAD, body.personality)
        banks = [(memory, where) for where in classes[graph.address[n]]]
        at = max((free[bank] for bank in banks), default=0)
        while any(taken[bank, at] >= ports for bank in banks):
            at += 1
        taken.update((bank, at) for bank in banks)
        for bank in banks:
            while taken[bank, free[bank]] >= ports:
                free[bank] += 1
        ready[n] = at + body.personality.accesses.load
        end = max(end, at + 1)
    return ready, end


def states_before(body: Body) -> int:
    """States of the loads and the arithmetic in front of a loop."""
    graph, loads = body.graph, body.prologue_loads
    arithmetic = [n for n in body.hoisted if graph.kind[n] not in (LOAD, STORE)]
    if not loads and not arithmetic:
        return 0
    ready, end = _started(body, loads)
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
    """States of a block from its first load of what the pipeline in front of it leaves there."""
    return states_from(block, left_behind(last))


def takes_from(block: Body | None, behind: Sequence[Body]) -> bool:
    """What a block loads are known elements, some of which pipelines have stored one by one."""
    if block is None or not behind:
        return False
    graph, table = block.graph, block.addresses
    stores = [a for last in behind for a in (*last.store_value, *last.conditional)]
    moving = [a for a in stores if table.shape(a).variables]
    loads = {graph.address[n] for n in block.nodes if graph.kind[n] == LOAD}
    if any(table.shape(a).variables for a in loads):
        return False
    return any(table.may_alias(a, s) for a in loads for s in moving)


def left_behind(last: Body) -> set[int]:
    """The addresses that a pipeline leaves to what is behind it.

    An accumulator that is stored behind the pipeline is not waited for.
    """
    early = [last.graph.address[n] for n in last.graph.early_stores]
    scalars = (a for a in last.registers if last.addresses.memory(a).in_registers)
    return {*last.store_value, *last.conditional, *early, *scalars}


def states_from(block: Body, left: Container[int]) -> int:
    """States of a block from its first load of one of these addresses."""
    graph = block.graph
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


def fed_by(body: Body, last: Body) -> bool:
    """What is loaded in front of a pipeline is of an array that the one before it stores to."""
    early = [last.graph.address[n] for n in last.graph.early_stores]
    stores = (*last.store_value, *last.conditional, *early, *last.epilogue)
    stored = {last.addresses.shape(a).memory for a in stores}
    graph, table = body.graph, body.addresses
    return any(table.shape(graph.address[n]).memory in stored for n in body.prologue_loads)


def behind_call(block: Body | None, last: Body | None, body: Body) -> int:
    """States between a call and the next one, whose loads may be done before its stores."""
    if last is None:
        return 0
    waits = states_behind(block, last) if block else 0
    if not body.personality.composition.exposed_transfers:
        return waits
    loads = loads_before(body)
    return max(waits, loads if fed_by(body, last) else loads - body.personality.accesses.load)
