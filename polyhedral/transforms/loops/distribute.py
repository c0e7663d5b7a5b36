"""``distribute(stmts, depth)``: loop fission.

Before::

    for i in range(N):
      S0(i)
      S1(i)

After ``distribute(["S1"])``::

    for i in range(N):
      S0(i)
    for i in range(N):
      S1(i)

The two loops are now addressed as ``S0.i`` and ``S1.i``. The outermost ``depth`` loops stay shared.

Loops of its own take a statement under a guard no further than it goes. Before::

    for i in range(N):
      if i >= 1:
        S0(i)
      if i <= 0:
        S1(i)

After ``distribute(["S1"])``, ``S1`` has the loop ``for i in range(1)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.schedules.steps import Distribute
from polyhedral.scop.lookup import find_statement
from polyhedral.scop.scheduled import Dim, Piece, Place, ScheduledScop
from polyhedral.transforms.guarding import cut_down, side_by_side
from polyhedral.transforms.registry import transform


@transform(Distribute)
def distribute(state: ScheduledScop, step: Distribute) -> ScheduledScop:
    """Separate the statements from the others in their nest; see the module."""
    if not step.stmts:
        raise ScheduleError("W210", "distribute needs a statement", span=step.span)
    listed = [p for name in step.stmts for p in find_statement(state, name, step)]
    nests = {p.place[: step.depth + 1] for p in listed if len(p.dims) > step.depth >= 0}
    if not nests:
        raise ScheduleError(
            "W210",
            f"{', '.join(step.stmts)}: no loop below depth {step.depth}",
            span=step.span,
        )
    group: dict[int, tuple[int, str]] = {}
    for nest in nests:
        group |= _groups([p for p in state.pieces if p.place[: step.depth + 1] == nest], step)
    if len(set(group.values())) < 2:
        if (told := _copies_told_apart(state, group, step)) is not None:
            return told
        raise ScheduleError(
            "W210",
            f"{', '.join(step.stmts)} shares no loop below depth {step.depth} with others",
            span=step.span,
        )
    placed: list[tuple[Piece, Place]] = []
    for piece in state.pieces:
        if id(piece) not in group:
            placed.append((piece, piece.place))
            continue
        number, label = group[id(piece)]
        at = (piece.place[step.depth], number)
        place: Place = (*piece.place[: step.depth], at, *piece.place[step.depth + 1 :])
        own = _relabelled(piece, step.depth, label) if number else piece
        alone = sum(nest == group[id(piece)] for nest in group.values()) == 1
        parts = _narrowed(own, step.depth) if alone else [own]
        placed += side_by_side(parts, place) if len(parts) > 1 else [(parts[0], place)]
    return state.with_places(placed)


def _copies_told_apart(
    state: ScheduledScop, group: Mapping[int, tuple[int, str]], step: Distribute
) -> ScheduledScop | None:
    """Where a nest stands apart already, and its loops are copies of others (as what `peel` and `split` leave): the same
    as loops of their own; None where they are so already.
    """
    loops = {d.uid for p in state.pieces if id(p) in group for d in p.dims[step.depth :]}
    if all(loops.isdisjoint(d.uid for d in p.dims) for p in state.pieces if id(p) not in group):
        return None
    placed = [
        (_relabelled(p, step.depth, group[id(p)][1]) if id(p) in group else p, p.place)
        for p in state.pieces
    ]
    return state.with_places(placed)


def _narrowed(piece: Piece, depth: int) -> list[Piece]:
    """A piece that runs under guards with its loops from ``depth`` on over the range that it has."""
    if piece.hull is piece.domain or not piece.guards:
        return [piece]
    kind, hull = isl.dim_type.set, piece.hull
    for level in range(depth, len(piece.dims)):
        hull = hull.lower_bound_val(kind, level, piece.domain.dim_min_val(level))
        hull = hull.upper_bound_val(kind, level, piece.domain.dim_max_val(level))
    if hull.is_equal(piece.hull):
        return [piece]
    return cut_down(replace(piece, hull=hull, frame=piece.frame.intersect(hull))) or [piece]


def _groups(nest: list[Piece], step: Distribute) -> dict[int, tuple[int, str]]:
    """Per piece (by id): which new nest, in order, and a name that tells the nests apart."""
    order = [p.name for p in nest]
    first = min(n for n, name in enumerate(order) if name in step.stmts)
    sides: dict[int, int] = {}
    for n, piece in enumerate(nest):
        if piece.name in step.stmts:
            sides[id(piece)] = 1
        else:
            sides[id(piece)] = 0 if n < first else 2
    used = sorted(set(sides.values()))
    leaders = {side: next(p.name for p in nest if sides[id(p)] == side) for side in used}
    return {key: (used.index(side), leaders[side]) for key, side in sides.items()}


def _relabelled(piece: Piece, depth: int, label: str) -> Piece:
    """Loops of their own need identities of their own."""
    dims: list[Dim] = [
        d if k < depth else replace(d, uid=(*d.uid, label)) for k, d in enumerate(piece.dims)
    ]
    return replace(piece, dims=tuple(dims))
