"""Where expanded locals help: statements that cannot be told apart because they share a scalar.

A sum in a scalar, or a temporary, keeps the statements around it in one imperfect nest. With an
element for each iteration they can be distributed, and the loops of each be reordered.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from dsl.programs.program import Array
from dsl.schedules.steps import Expand, Step
from polyhedral.legality.lifetimes import accessing
from polyhedral.schedule import tried
from polyhedral.scop.execution_order import shared_levels
from polyhedral.scop.scheduled import Piece, ScheduledScop

MOST = 1 << 15
"""Elements of an expanded local, at most."""


def expanded(
    state: ScheduledScop, before: tuple[Step, ...]
) -> Iterator[tuple[ScheduledScop, tuple[Step, ...]]]:
    """The program with its locals expanded as far out as memory allows, and by one loop.

    Args:
        state: the program as it is written.
        before: the steps that made it.
    """
    for outermost in (True, False):
        at, steps = state, before
        for array in state.scop.program.locals:
            for nest in _nests(state, array):
                found = _expanded(at, array, nest, outermost)
                if found is not None:
                    at, step = found
                    steps = (*steps, step)
        if len(steps) > len(before):
            yield at, steps


def _nests(state: ScheduledScop, array: Array) -> list[list[Piece]]:
    """What accesses a local, by the outermost loop: those which it ties together in some loops."""
    found: dict[int, list[Piece]] = {}
    for piece in accessing(state, array.name):
        if piece.dims:
            found.setdefault(piece.place[0], []).append(piece)
    return [pieces for pieces in found.values() if len({len(p.dims) for p in pieces}) > 1]


def _expanded(
    state: ScheduledScop, array: Array, nest: list[Piece], outermost: bool
) -> tuple[ScheduledScop, Expand] | None:
    """The local along the outermost loop that will do, or along the innermost that it lives in."""
    shared = min(shared_levels(nest[0], p) for p in nest[1:])
    depth = min(shared, array.scope_depth) if array.scope_depth else shared
    for level in range(depth) if outermost else range(depth)[-1:]:
        step = Expand(array.name, f"{nest[0].name}.{nest[0].names[level]}")
        made = tried(state, step)
        if made is None:
            continue
        known = {a.name for a in state.scop.program.arrays}
        new = next(a for a in made.scop.program.arrays if a.name not in known)
        if prod(new.shape) <= MOST:
            return made, step
    return None
