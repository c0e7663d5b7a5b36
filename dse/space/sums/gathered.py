"""Nests that produce the same elements in the loops over these elements: an element is finished in one iteration.

A sum over rows of a matrix, `for i: for j: out[j] += A[i, j]`, has its terms apart. With the loops of the elements
outermost and those of the sum inside, what clears an element, what adds to it and what uses it afterwards share the outer
loops, which is how the same sum in a scalar is written. The sum is unrolled inside a pipeline then, in parts where a tool
makes chains of it.
"""

from __future__ import annotations

from dse.space.loops.regrouped import distributed
from dse.space.nests.groups import Group, groups, own_level
from dsl.schedules.steps import Fuse, Reorder, Step
from polyhedral.schedule import tried
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import Piece, ScheduledScop


def gathered(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]] | None:
    """The program, its sums in any order, with sums inside of the loops over elements, and nests of the same elements in
    the same loops, and the steps that do it; None where nothing shares loops that did not.
    """
    at, steps = distributed(state)
    for group in groups(at):
        moved, more = _sums_inside(at, group)
        at, steps = moved, (*steps, *more)
    moved, fused = _together(at)
    return (moved, (*steps, *fused)) if fused else None


def _sums_inside(state: ScheduledScop, group: Group) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """The loops of a nest of one sum, those that its element moves with outermost."""
    piece = group.pieces[0]
    if len(group.pieces) != 1 or piece.name not in state.reassociated or own_level(state, group):
        return state, ()
    moving = _moving(piece)
    names = sorted(piece.names, key=lambda name: name not in moving)
    if tuple(names) == tuple(piece.names) or not moving:
        return state, ()
    step = Reorder(tuple(f"{piece.name}.{name}" for name in names))
    moved = tried(state, step)
    return (state, ()) if moved is None else (moved, (step,))


def _moving(piece: Piece) -> frozenset[str]:
    """The loops of a piece that the subscripts of its target move with."""
    bindings = dict(piece.bindings)
    indices = piece.statement.stmt.target.indices
    return frozenset(v for index in indices for v in index.substitute(bindings).variables())


def _together(state: ScheduledScop) -> tuple[ScheduledScop, tuple[Step, ...]]:
    """Each nest in as many loops of the nearest nest before it as have the same bounds, where that is legal."""
    steps: list[Step] = []
    leaders = [group.pieces[0].name for group in groups(state) if not own_level(state, group)]
    for n, name in enumerate(leaders):
        for before in reversed(leaders[:n]):
            moved = _joined(state, before, name)
            if moved is not None:
                state, step = moved
                steps.append(step)
                break
    return state, tuple(steps)


def _joined(state: ScheduledScop, before: str, name: str) -> tuple[ScheduledScop, Fuse] | None:
    ends = (state.of_statement(before), state.of_statement(name))
    if any(len(pieces) != 1 for pieces in ends):
        return None
    (a,), (b,) = ends
    for depth in range(_alike(a, b), 0, -1):
        moved = tried(state, step := Fuse((before, name), depth))
        if moved is not None:
            return moved, step
    return None


def _alike(a: Piece, b: Piece) -> int:
    """How many of the outermost loops have the same constant bounds."""
    count = 0
    for k in range(min(a.depth, b.depth)):
        found = constant_interval(a, k)
        if found is None or found != constant_interval(b, k):
            break
        count += 1
    return count
