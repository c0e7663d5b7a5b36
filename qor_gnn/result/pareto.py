"""Pareto fronts of figures that are all to be small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Values = tuple[float, ...]
Design = TypeVar("Design")


def covers(one: Values, other: Values) -> bool:
    """At least as good in every objective."""
    return all(a <= b for a, b in zip(one, other, strict=True))


def dominates(one: Values, other: Values) -> bool:
    """At least as good in every objective, and better in one."""
    return covers(one, other) and any(a < b for a, b in zip(one, other, strict=True))


def front(found: Iterable[Design], values: Callable[[Design], Values]) -> list[Design]:
    """Those that no other is at least as good as, best first by the first objective.

    Args:
        found: designs; of equals the first is kept.
        values: of a design, as many for each.
    """
    kept: list[tuple[Values, Design]] = []
    for design in sorted(found, key=values):
        mine = values(design)
        # Of two objectives, the last one kept has the least of the second so far.
        rivals = kept[-1:] if len(mine) <= 2 else kept
        if not any(covers(other, mine) for other, _ in rivals):
            kept.append((mine, design))
    return [design for _, design in kept]


def hypervolume(points: Sequence[Values], worst: Values) -> float:
    """The share of the box from zero to ``worst`` that the points dominate.

    Any number of objectives, by slicing along the first (While et al., 2006).
    """
    scaled = [
        tuple(p / w if w else 0.0 for p, w in zip(point, worst, strict=True)) for point in points
    ]
    return _volume([p for p in scaled if all(x <= 1 for x in p)])


def _volume(points: Sequence[tuple[float, ...]]) -> float:
    if not points:
        return 0.0
    if len(points[0]) == 1:
        return 1.0 - min(p[0] for p in points)
    ordered = sorted(points)
    edges = [*(p[0] for p in ordered), 1.0]
    return sum(
        (edges[n + 1] - edges[n]) * _volume([p[1:] for p in ordered[: n + 1]])
        for n in range(len(ordered))
    )
