"""Stores whose bank is only known at run time: switches over the banks, which split basic blocks.

What follows such a switch in the program is in another block: the switches run one state after the
other, and where the tool cannot tell elements of an array apart, no later load moves above one.
"""

from __future__ import annotations

import itertools

from qor_gnn.body.body import Body, connect, shares_unseen
from qor_gnn.schedule.list_schedule import Times, schedule

_CASES = 8
"""Banks from which on a switch over them ends its state (one family of designs, docs/qor-model.md)."""


def switched_schedule(body: Body) -> Times:
    """The schedule of a sequential body, whose stores to unknown banks end basic blocks."""
    switches = switch_stores(body)
    if len(switches) < 2:
        return schedule(body)
    if all(shares_unseen(body, body.graph.address[s]) for s in switches):
        _later_loads_wait(body, switches)
        return schedule(body)
    return _stores_behind(body, switches)


def switch_stores(body: Body) -> list[int]:
    """Stores of which nothing is known of the bank in some split dimension, in program order."""
    table = body.addresses
    found = []
    for address, store in body.store_value.items():
        shape = table.shape(address)
        unknown = zip(shape.moduli, shape.resolved, strict=True)
        if any(g == 1 and not resolved for g, resolved in unknown):
            found.append(store)
    return found


def _later_loads_wait(body: Body, switches: list[int]) -> None:
    graph = body.graph
    users = {graph.address[s]: s for s in switches}
    order = [a for a in graph.stores if a in users]
    for before, after in itertools.pairwise(order):
        load = graph.loads.get(after)
        # What the program loads before it computes the value to store does not wait for it.
        if load is not None and load > graph.stores[before] and not body.kept_out[load]:
            connect(body, users[before], load, 0)


def _stores_behind(body: Body, switches: list[int]) -> Times:
    """All else in one block, in whose last state the first switch is; then a state for each."""
    kept = set(switches)
    nodes = body.nodes
    body.nodes = [n for n in nodes if n not in kept]
    if any(before in kept for n in body.nodes for before, _ in body.preds[n]):
        body.nodes = nodes  # something waits for one of them: they cannot be behind all else
        return schedule(body)
    cut = {n: [e for e in body.succs[n] if e[0] not in kept] for n in body.nodes}
    saved = {n: body.succs[n] for n in body.nodes}
    for n, edges in cut.items():
        body.succs[n] = edges
    times = schedule(body)
    for n, edges in saved.items():
        body.succs[n] = edges
    body.nodes = nodes
    for position, store in enumerate(switches):
        times.start[store] = times.states - 1 + position
    return Times(times.start, times.states + len(switches) - 1, times.offset)


def epilogue_switches(body: Body) -> int:
    """Further states for the stores after a sequential loop that go to a bank known at run time.

    Each switch over `_CASES` banks or more takes one; stores that are selected by the
    same subscript share it.
    """
    table = body.addresses
    selectors = set()
    for address in body.epilogue:
        shape, memory = table.shape(address), table.memory(address)
        unknown = [d for d, known in enumerate(shape.resolved) if not known]
        if any(memory.splits[d].factor // shape.moduli[d] >= _CASES for d in unknown):
            selectors.add(tuple((shape.terms[d], memory.splits[d]) for d in unknown))
    return len(selectors)
