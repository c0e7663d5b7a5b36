"""Order that other order implies, which scheduling need not look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from backends.rtl.schedule.edge import Edge

MANY = 4
"""Edges an operation from which on implied ones are looked for: below, it costs what it saves."""
MOST_OPERATIONS = 600
"""Operations up to which they are looked for: time grows with the cube (600: 0.4 s)."""
NEVER = -(1 << 28)

Paths = NDArray[np.int32]
"""The longest path from each operation (row) to each (column) in cycles; `NEVER` or less: none."""


def necessary(
    size: int, within: Sequence[tuple[int, int, int]], edges: Sequence[Edge]
) -> list[Edge]:
    """Edges without those that paths over as many iterations imply, at every initiation interval.

    Paths within an iteration are not circular, so that no two edges are left out for each other.

    Args:
        size: Number of operations.
        within: Source, destination and latency in cycles of what orders an iteration besides.
        edges: Order within and between iterations.
    """
    if len(edges) <= MANY * size or size > MOST_OPERATIONS:
        return list(edges)
    by_distance: dict[int, list[Edge]] = defaultdict(list)
    for edge in edges:
        by_distance[edge.distance].append(edge)
    inside = [*within, *((e.src, e.dst, e.latency) for e in by_distance[0])]
    longer, longest = _paths(size, inside)
    kept: set[Edge] = set()
    for distance, group in by_distance.items():
        implied = longer if distance == 0 else _crossing(size, group, longer, longest)
        kept |= {e for e in group if implied[e.src, e.dst] < e.latency}
    return [edge for edge in edges if edge in kept]


def _paths(size: int, steps: Iterable[tuple[int, int, int]]) -> tuple[Paths, Paths]:
    """The longest paths of two steps or more, and those of any number, none among them."""
    into: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    users: list[list[int]] = [[] for _ in range(size)]
    for src, dst, latency in steps:
        into[dst].append((src, latency))
        users[src].append(dst)
    longest = np.full((size, size), NEVER, dtype=np.int32)
    longer = longest.copy()
    np.fill_diagonal(longest, 0)
    for op in _topological(into, users):
        for src, latency in into[op]:
            through = longest[:, src] + latency
            longest[:, op] = np.maximum(longest[:, op], through)
            through[src] = NEVER
            longer[:, op] = np.maximum(longer[:, op], through)
    return longer, longest


def _topological(into: Sequence[Sequence[object]], users: Sequence[Sequence[int]]) -> list[int]:
    left = [len(sources) for sources in into]
    order = [op for op, sources in enumerate(left) if not sources]
    for op in order:  # grows as it is walked
        for user in users[op]:
            left[user] -= 1
            if not left[user]:
                order.append(user)
    return order


def _crossing(size: int, group: Iterable[Edge], longer: Paths, longest: Paths) -> Paths:
    """The longest paths over one edge of a distance and steps within an iteration beside it."""
    moved = longest.copy()
    np.fill_diagonal(moved, NEVER)  # at least one step
    sources = sorted({e.src for e in group})
    row = {src: at for at, src in enumerate(sources)}
    after = np.full((len(sources), size), NEVER, dtype=np.int32)
    before = after.copy()
    for e in group:
        at = row[e.src]
        after[at] = np.maximum(after[at], longest[e.dst] + e.latency)
        before[at] = np.maximum(before[at], moved[e.dst] + e.latency)
    result = np.full((size, size), NEVER, dtype=np.int32)
    for at, src in enumerate(sources):
        # Steps before the edge and perhaps after it, or steps after it alone.
        np.maximum(result, moved[:, src, None] + after[at][None, :], out=result)
        np.maximum(result[src], before[at], out=result[src])
    return result
