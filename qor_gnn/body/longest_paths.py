"""Slowest chains of operations in a body: what recurrences are made of."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

from qor_gnn.body.body import Body
from qor_gnn.body.graph import Graph


def register_paths(body: Body) -> Sequence[tuple[int, int, list[int]]]:
    """For each register the states of its longest cycle and the operations on it, in order."""
    if body.chains is not None:
        return body.chains
    found = [_register_path(body, a, value) for a, value in body.registers.items() if value >= 0]
    body.chains = [one for one in found if one is not None]
    return body.chains


def conditional_paths(body: Body) -> list[tuple[int, int, list[int]]]:
    """The same through what is stored to a register under a guard, behind what is stored always."""
    guarded = body.graph.conditional.items()
    found = [
        _register_path(body, address, conditional.value)
        for address, conditional in guarded
        if address in body.registers and conditional.value not in (-1, body.registers[address])
    ]
    return [one for one in found if one is not None]


def loads_of(body: Body, address: int) -> list[int]:
    """The loads of a register's old value, in program order: several where the tool loads it again
    behind a store to another element.
    """
    return sorted(n for n in body.carried if body.graph.address[n] == address)


def _register_path(body: Body, address: int, value: int) -> tuple[int, int, list[int]] | None:
    """From the register's old value, each time that it is loaded, to a value that it gets."""
    graph, best = body.graph, None
    for start in loads_of(body, address):
        if path := longest_path(graph, start, value):
            states = sum(map(graph.states, path))
            if best is None or states > best[1]:
                best = address, states, path
    return best


def longest_path(graph: Graph, start: int, end: int, without: Collection[int] = ()) -> list[int]:
    """The operations after ``start`` up to ``end`` along the slowest chain; empty if none."""
    users = graph.users()
    best: dict[int, tuple[int, int]] = {start: (0, -1)}
    open_, seen = [start], {start}
    while open_:
        n = heapq.heappop(open_)
        if n == end:
            break
        for user in users[n]:
            if user in without:
                continue
            length = best[n][0] + graph.states(user)
            if user not in best or length > best[user][0]:
                best[user] = (length, n)
            if user not in seen and user <= end:
                seen.add(user)
                heapq.heappush(open_, user)
    if end not in best or end == start:
        return []
    path, at = [], end
    while at != start:
        path.append(at)
        at = best[at][1]
    return path[::-1]
