"""The iterations of one loop of a piece: is it the same interval in every execution?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import islpy as isl

from polyhedral.scop.scheduled import LoopId, Piece, ScheduledScop


class Interval(NamedTuple):
    """``first .. last``, both included."""

    first: int
    last: int

    @property
    def extent(self) -> int:
        """How many iterations."""
        return self.last - self.first + 1


def outer_hull(piece: Piece, level: int) -> isl.Set:
    """The loops down to ``level``, those inside projected out."""
    return piece.hull.project_out(isl.dim_type.set, level + 1, len(piece.dims) - level - 1)


@lru_cache(maxsize=4096)
def constant_interval(piece: Piece, level: int) -> Interval | None:
    """The loop's iterations where they are the same interval whatever the outer loops are."""
    loops = outer_hull(piece, level)
    low, high = loops.dim_min_val(level), loops.dim_max_val(level)
    box = (
        loops.project_out(isl.dim_type.set, level, 1)
        .add_dims(isl.dim_type.set, 1)
        .lower_bound_val(isl.dim_type.set, level, low)
        .upper_bound_val(isl.dim_type.set, level, high)
    )
    if not box.is_subset(loops):
        return None
    return Interval(low.to_python(), high.to_python())


def common_interval(members: Sequence[tuple[Piece, int]]) -> Interval | None:
    """The interval that all pieces of one loop run over, None where they differ or it varies."""
    found = {constant_interval(piece, level) for piece, level in members}
    return found.pop() if len(found) == 1 else None


def whole_range(members: Sequence[tuple[Piece, int]]) -> Interval | None:
    """What a loop runs over in all of its executions together; None where there is no bound."""
    lows = [piece.hull.dim_min_val(level) for piece, level in members]
    highs = [piece.hull.dim_max_val(level) for piece, level in members]
    if not all(v.is_int() for v in (*lows, *highs)):
        return None
    return Interval(min(v.to_python() for v in lows), max(v.to_python() for v in highs))


def inner_iterations(piece: Piece, level: int) -> int:
    """How many different iterations the loops from ``level`` inwards have in all executions together."""
    found: int = piece.hull.project_out(isl.dim_type.set, 0, level).count_val().to_python()
    return found


def loop_copies(state: ScheduledScop, uid: LoopId) -> list[list[tuple[Piece, int]]]:
    """The pieces in a loop, grouped by the copies of it that stand in different places."""
    copies: dict[tuple[int, ...], list[tuple[Piece, int]]] = {}
    for piece in state.pieces:
        level = piece.level(uid)
        if level is not None:
            copies.setdefault(piece.place[: level + 1], []).append((piece, level))
    return list(copies.values())


def lowest(members: Sequence[tuple[Piece, int]]) -> int:
    """The least iteration of a loop over all its executions, 0 where there is no bound."""
    lows = [piece.hull.dim_min_val(level) for piece, level in members]
    return min((v.to_python() for v in lows if v.is_int()), default=0)
