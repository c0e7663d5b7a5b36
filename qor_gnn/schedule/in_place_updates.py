"""When a pipeline loads the old values of elements that it updates in place (`Accesses.updates`)."""

from __future__ import annotations

from collections import Counter

from qor_gnn.body.bank_divisions import updated
from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD
from qor_gnn.body.ports import NO_PORTS
from qor_gnn.schedule.list_schedule import Times


def old_values(body: Body, times: Times, period: int) -> Times:
    """The schedule with old values loaded when the first operation that takes them can start.

    That is when everything else that it takes is there, whatever units are free; before that, the last
    state of the interval in which a port is free. Where other elements of the array are loaded as
    well, nothing waits: the next iteration may want what this one stores.
    """
    if body.personality.accesses.updates == "asap":
        return times
    first = times.start
    latest = _latest(body, times, _old(body))
    used: Counter[tuple[int, int]] = Counter()
    for n, taken in body.ports.items():
        if n in first and n not in latest:
            used.update((port, first[n] % period) for port, _ in taken)
    start = dict(first)
    for n in sorted(latest, key=lambda n: -latest[n]):
        at, taken = latest[n], body.ports.get(n, NO_PORTS)
        while at > first[n] and any(used[port, at % period] >= free for port, free in taken):
            at -= 1
        start[n] = at
        used.update((port, at % period) for port, _ in taken)
    return Times(start, times.states, times.offset)


def _old(body: Body) -> set[int]:
    """Loads of what the body stores to, in arrays of which it loads nothing else."""
    graph, table = body.graph, body.addresses
    stored = body.stored
    found = {n for n in body.nodes if graph.kind[n] == LOAD and graph.address[n] in stored}
    others = updated(graph) if found else set()
    return {n for n in found if table.shape(graph.address[n]).memory not in others}


def _latest(body: Body, times: Times, old: set[int]) -> dict[int, int]:
    """When the old values are wanted, of those that are loaded before."""
    if not old:
        return {}
    soon = dict(times.start)
    for n in _ordered(body):
        others = [soon[m] + states for m, states in body.preds[n] if m not in old]
        if others:
            soon[n] = max(others)
    wanted = {n: min(soon[m] - states for m, states in body.succs[n]) for n in old if body.succs[n]}
    return {n: at for n, at in wanted.items() if at > times.start[n]}


def _ordered(body: Body) -> list[int]:
    """The operations of a body, each behind those that it waits for."""
    waiting = {n: len(body.preds[n]) for n in body.nodes}
    found = [n for n in body.nodes if not waiting[n]]
    for n in found:
        for after, _ in body.succs[n]:
            waiting[after] -= 1
            if not waiting[after]:
                found.append(after)
    return found
