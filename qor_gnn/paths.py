"""Slowest chains of operations in a body: what recurrences are made of."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

from qor_gnn.body import Body
from qor_gnn.graph import Graph


def register_paths(body: Body) -> Sequence[tuple[int, int, list[int]]]:
    """For each register the states of its longest cycle and the operations on it, in order."""
    if body.chains is not None:
        return body.chains
    found: list[tuple[int, int, list[int]]] = []
    graph = body.graph
    for address, value in body.registers.items():
        start = graph.loads.get(address)
        if start is None or start not in body.carried or value < 0:
            continue
        path = longest_path(graph, start, value)
        if path:
            states = 0
            for n in path:
                operator = graph.operator[n]
                states += operator.distance if operator is not None else 0
            found.append((address, states, path))
    body.chains = found
    return found


def conditional_paths(body: Body) -> list[tuple[int, int, list[int]]]:
    """The same through what is stored to a register under a guard, behind what is stored always."""
    graph = body.graph
    found: list[tuple[int, int, list[int]]] = []
    for address, conditional in graph.conditional.items():
        start, value = graph.loads.get(address), conditional.value
        if start is None or start not in body.carried or value in (-1, body.registers[address]):
            continue
        path = longest_path(graph, start, value)
        if path:
            states = sum(o.distance for n in path if (o := graph.operator[n]) is not None)
            found.append((address, states, path))
    return found


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
            operator = graph.operator[user]
            length = best[n][0] + (operator.distance if operator is not None else 0)
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
