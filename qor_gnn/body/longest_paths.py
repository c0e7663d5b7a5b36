"""Slowest chains of operations in a body: what recurrences are made of."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence

from qor_gnn.body.body import Body
from qor_gnn.body.graph import Graph


def register_paths(body: Body) -> Sequence[tuple[int, int, list[int]]]:
    """For each register the states of its longest cycle and the operations on it, in order."""
    if body.chains is not None:
        return body.chains
    loads = old_values(body)
    found = [
        _register_path(body, loads, a, value) for a, value in body.registers.items() if value >= 0
    ]
    body.chains = [one for one in found if one is not None]
    return body.chains


def conditional_paths(body: Body) -> list[tuple[int, int, list[int]]]:
    """The same through what is stored to a register under a guard, behind what is stored always."""
    guarded, loads = body.graph.conditional.items(), old_values(body)
    found = [
        _register_path(body, loads, address, conditional.value)
        for address, conditional in guarded
        if address in body.registers and conditional.value not in (-1, body.registers[address])
    ]
    return [one for one in found if one is not None]


def old_values(body: Body) -> dict[int, list[int]]:
    """The loads of each register's old value, in program order: several where the tool loads it again
    behind a store to another element.
    """
    found: dict[int, list[int]] = {}
    for n in sorted(body.carried):
        found.setdefault(body.graph.address[n], []).append(n)
    return found


def _register_path(
    body: Body, loads: Mapping[int, list[int]], address: int, value: int
) -> tuple[int, int, list[int]] | None:
    """From the register's old value, each time that it is loaded, to a value that it gets."""
    graph, best = body.graph, None
    for start in loads.get(address, ()):
        if path := longest_path(graph, start, value):
            states = sum(map(graph.states, path))
            if best is None or states > best[1]:
                best = address, states, path
    return best


def longest_path(graph: Graph, start: int, end: int, without: Collection[int] = ()) -> list[int]:
    """The operations after ``start`` up to ``end`` along the slowest chain; empty if none."""
    return LongestPaths(graph, start, without).to(end)


class LongestPaths:
    """The slowest chains of operations behind one, which are followed as far as they are asked for."""

    def __init__(self, graph: Graph, start: int, without: Collection[int] = ()) -> None:
        self._graph = graph
        self._start = start
        self._without = without
        self._best: dict[int, tuple[int, int]] = {start: (0, -1)}
        self._open = [start]

    def to(self, end: int) -> list[int]:
        """The operations up to ``end`` along the slowest chain; empty if none leads there."""
        self._follow(end)
        best = self._best
        if end not in best or end == self._start:
            return []
        path, at = [], end
        while at != self._start:
            path.append(at)
            at = best[at][1]
        return path[::-1]

    def _follow(self, end: int) -> None:
        """What is behind the operations in front of ``end``: numbers go with the order of operations."""
        graph, without = self._graph, self._without
        users, best, open_ = graph.users(), self._best, self._open
        operators, looked_up = graph.operator, graph.looked_up
        while open_ and open_[0] < end:
            n = heapq.heappop(open_)
            there = best[n][0]
            for user in users[n]:
                if user in without:
                    continue
                operator = operators[user]  # `Graph.states`, asked millions of times
                own = looked_up.get(user, 0) if operator is None else operator.distance
                before = best.get(user)
                if before is None:
                    heapq.heappush(open_, user)
                    best[user] = (there + own, n)
                elif there + own > before[0]:
                    best[user] = (there + own, n)
