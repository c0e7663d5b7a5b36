"""The skews that are tried where no order leaves the innermost loop of a nest free."""

from __future__ import annotations

from collections.abc import Iterator

from dsl.schedules.steps import Skew, Step
from polyhedral.scop.ranges import common_interval
from polyhedral.scop.scheduled import Piece

SKEWS = (1, 2, 3)


def skews_of(piece: Piece, band: tuple[int, int]) -> Iterator[tuple[Step, ...]]:
    """One skew, the innermost pair of loops first, the least factor first; none of a loop of one iteration."""
    several = (k for k in range(*band) if not _is_once(piece, k))
    names = [f"{piece.name}.{piece.names[k]}" for k in several]
    for inner in range(len(names) - 1, 0, -1):
        for outer in range(inner - 1, -1, -1):
            for factor in SKEWS:
                yield (Skew(names[outer], names[inner], factor),)


def _is_once(piece: Piece, level: int) -> bool:
    found = common_interval([(piece, level)])
    return found is not None and found.extent == 1
