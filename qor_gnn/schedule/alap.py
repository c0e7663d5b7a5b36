"""When a body that is not pipelined does what it has time for (`Accesses.sequential`)."""

from __future__ import annotations

from collections import Counter

from qor_gnn.body.body import Body, only_multiplexed
from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.body.longest_paths import register_paths
from qor_gnn.body.ports import NO_PORTS, Taken
from qor_gnn.schedule.list_schedule import Times, priorities

_SPARE = 8  # states: what has more of them to wait does, and all that has any in copies in blocks


def waits_for_use(body: Body) -> bool:
    """Whether what is loaded is loaded when it is wanted: no accumulator is carried from one
    iteration to the next, and some bank of each load is known.
    """
    if body.personality.accesses.sequential == "asap" or register_paths(body):
        return False
    kinds = body.graph.kind
    return not any(kinds[n] == LOAD and only_multiplexed(body, n) for n in body.nodes)


def alap_times(body: Body, times: Times) -> Times:
    """The schedule with operations spread along the slowest chains, and as long.

    What has time is loaded as late as what uses it allows and a port is free, and used as soon as all
    of it is there, so that operators come at the rate of loads. Stores wait for nothing.
    """
    first = times.start
    kinds = body.graph.kind
    ends = _ends(body, times) if body.in_order else _heights(body, times)
    spare = 0 if body.in_blocks else _SPARE
    early = _read_only(body) if body.in_blocks and body.graph.early_stores else ()
    latest = {
        n: ends[n]
        for n in body.nodes
        if kinds[n] != STORE and ends[n] - first[n] > spare and n not in early
    }
    start = first | _loads(body, first, {n: t for n, t in latest.items() if kinds[n] == LOAD})
    for n in sorted((n for n in latest if kinds[n] != LOAD), key=latest.__getitem__):
        there = max((start[m] + states for m, states in body.preds[n]), default=latest[n])
        start[n] = min(latest[n], there)
    return Times(start, times.states, times.offset)


def _heights(body: Body, times: Times) -> dict[int, int]:
    """When each operation starts at the latest if ports are always free."""
    height = priorities(body)
    return {n: times.states - height[n] for n in body.nodes}


def _ends(body: Body, times: Times) -> dict[int, int]:
    """When each operation starts at the latest, if stores are made when they can be."""
    height = _heights(body, times)
    found: dict[int, int] = {}
    for n in sorted(body.nodes, reverse=True):
        if body.graph.kind[n] == STORE:
            found[n] = times.start[n]
            continue
        users = (found[m] - states for m, states in body.succs[n] if m in found)
        found[n] = min(users, default=height[n])
    return found


def _read_only(body: Body) -> set[int]:
    """Loads of arrays that the body does not store to: they are done in earlier blocks."""
    table, graph = body.addresses, body.graph
    stored = {table.shape(graph.address[n]).memory for n in body.nodes if graph.kind[n] == STORE}
    loads = (n for n in body.nodes if graph.kind[n] == LOAD)
    return {n for n in loads if table.shape(graph.address[n]).memory not in stored}


def _loads(body: Body, first: dict[int, int], latest: dict[int, int]) -> dict[int, int]:
    """When the loads start that can wait: the last ones first, as ports are free."""
    used: Counter[tuple[int, int]] = Counter()
    for n, taken in body.ports.items():
        if body.graph.kind[n] == LOAD and n not in latest:
            used.update((port, first[n]) for port, _ in taken)
    found: dict[int, int] = {}
    earlier: dict[Taken, dict[int, int]] = {}  # a state in which the ports are taken -> one before
    for n in sorted(latest, key=lambda n: -latest[n]):
        at, taken = latest[n], body.ports.get(n, NO_PORTS)
        known, passed = earlier.setdefault(taken, {}), []
        while at > 0 and (at in known or any(used[port, at] >= most for port, most in taken)):
            passed.append(at)
            at = known.get(at, at - 1)
        known.update(dict.fromkeys(passed, at))
        found[n] = at
        used.update((port, at) for port, _ in taken)
    return found
