"""``split(loop, factor)``: strip-mining.

Before::

    for i in range(100):
      S(i)

After ``split("i", 32)``, a remainder nest for the last 4 iterations::

    for i_0 in range(3):
      for i_1 in range(32):
        S(32*i_0 + i_1)
    for i_1 in range(4):
      S(96 + i_1)

With ``tail="guard"`` the loops stay whole and the body is guarded::

    for i_0 in range(4):
      for i_1 in range(32):
        if 32*i_0 + i_1 < 100:
          S(32*i_0 + i_1)

A loop whose bounds depend on outer loops is never cut: its inner loop gets ``min``/``max`` bounds,
or with ``tail="guard"`` runs over whole blocks too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import islpy as isl

from dsl.errors.errors import ScheduleError
from dsl.expressions.affine import Affine, Constraint
from dsl.schedules.steps import Split, Step, Tail
from polyhedral.scop.lookup import (
    check_new_name,
    check_tail,
    check_unannotated,
    dim_of,
    find_loop,
    with_loop,
)
from polyhedral.scop.ranges import Interval, common_interval, loop_copies, lowest
from polyhedral.scop.scheduled import Dim, LoopId, Piece, Place, ScheduledScop
from polyhedral.transforms.guarding import cut_down, side_by_side
from polyhedral.transforms.registry import Order, transform


@transform(Split, order=Order.KEPT)
def split(state: ScheduledScop, step: Split) -> ScheduledScop:
    """Split one loop; see the module."""
    uid = find_loop(state, step.loop, step)
    old = dim_of(with_loop(state, uid))
    outer, inner = step.outer or f"{old.name}_0", step.inner or f"{old.name}_1"
    if outer == inner:
        raise ScheduleError("W208", f"both loops would be called '{outer}'", span=step.span)
    for name in (outer, inner):
        if name != old.name:
            check_new_name(state, uid, name, step)
    state, _, _ = split_loop(state, uid, step.factor, (outer, inner), step.tail, step)
    return state


@dataclass(frozen=True, slots=True)
class _Cut:
    """How the iterations of one copy of the loop are cut."""

    old: Dim
    new: tuple[Dim, Dim]
    factor: int
    base: int  # the iteration where the first block begins

    @property
    def value(self) -> dict[str, Affine]:
        outer, inner = (Affine.of(d.name) for d in self.new)
        return {self.old.name: outer * self.factor + inner + self.base}

    @property
    def inside(self) -> tuple[Constraint, Constraint]:
        inner = Affine.of(self.new[1].name)
        return Constraint(inner), Constraint(-inner + (self.factor - 1))


def split_loop(
    state: ScheduledScop,
    uid: LoopId,
    factor: int,
    names: tuple[str, str],
    tail: Tail,
    step: Step,
) -> tuple[ScheduledScop, LoopId, LoopId]:
    """Split the loop by identity; returns the state and the identities of block and point loop."""
    old = dim_of(with_loop(state, uid))
    check_tail(tail, step)
    if factor < 1:
        raise ScheduleError("W207", f"the factor is {factor}, not at least 1", span=step.span)
    check_unannotated(old, step)
    outer_id, inner_id = (*uid, "0"), (*uid, "1")
    new = (Dim(names[0], outer_id, span=old.span), Dim(names[1], inner_id, span=old.span))
    changed: dict[int, list[tuple[Piece, Place]]] = {}
    for members in loop_copies(state, uid):
        interval = common_interval(members)
        for piece, level in members:
            if interval is None:
                parts = _whole(piece, level, _Cut(old, new, factor, lowest(members)), tail, step)
            else:
                cut = _Cut(old, new, factor, interval.first)
                parts = _parts(piece, level, cut, interval, tail, step)
            changed[id(piece)] = parts
    placed: list[tuple[Piece, Place]] = []
    for piece in state.pieces:
        placed += changed.get(id(piece), [(piece, piece.place)])
    return state.with_places(placed), outer_id, inner_id


def _new_dims(piece: Piece, level: int, cut: _Cut) -> tuple[Dim, ...]:
    return (*piece.dims[:level], *cut.new, *piece.dims[level + 1 :])


def _place(piece: Piece, level: int, part: int) -> Place:
    """One loop more: a static position 0 between block and point loop."""
    at = (piece.place[level], part)
    return (*piece.place[:level], at, 0, *piece.place[level + 1 :])


def _whole(
    piece: Piece, level: int, cut: _Cut, tail: Tail, step: Step
) -> list[tuple[Piece, Place]]:
    if tail == "guard":
        return _guarded(piece, level, cut, step)
    new = piece.transformed(_new_dims(piece, level, cut), cut.value, cut.inside)
    return [(new, _place(piece, level, 0))]


def _parts(
    piece: Piece, level: int, cut: _Cut, interval: Interval, tail: Tail, step: Step
) -> list[tuple[Piece, Place]]:
    dims = _new_dims(piece, level, cut)
    blocks, rest = divmod(interval.extent, cut.factor)
    if rest == 0:
        return [(piece.transformed(dims, cut.value, cut.inside), _place(piece, level, 0))]
    if tail == "guard":
        return _guarded(piece, level, cut, step)
    outer = Affine.of(cut.new[0].name)
    found: list[tuple[Piece, Place]] = []
    sides: tuple[tuple[Literal[0, 1], Constraint], ...] = (
        (0, Constraint(-outer + (blocks - 1))),
        (1, Constraint(outer - blocks)),
    )
    for part, side in sides:
        new = piece.transformed(dims, cut.value, (*cut.inside, side))
        if not new.domain.is_empty():
            found.append((new, _place(piece, level, part)))
    return found


def _guarded(piece: Piece, level: int, cut: _Cut, step: Step) -> list[tuple[Piece, Place]]:
    """The point loop runs over whole blocks, and what is inside of it over what it needs in any
    iteration of a block; the body is guarded.
    """
    new = piece.transformed(_new_dims(piece, level, cut), cut.value, cut.inside)

    def whole(loops: isl.Set) -> isl.Set:
        kind = isl.dim_type.set
        others = loops.project_out(kind, level + 1, 1).insert_dims(kind, level + 1, 1)
        first = others.lower_bound_val(kind, level + 1, isl.Val(0))
        return first.upper_bound_val(kind, level + 1, isl.Val(cut.factor - 1)).compute_divs()

    hull = whole(new.hull)
    frame = hull if new.frame is new.hull else whole(new.frame)
    low, high = (v.to_python() for v in _ends(piece, level))
    old = cut.value[cut.old.name]
    parts = cut_down(
        replace(new, hull=hull, frame=frame), (Constraint(high - old), Constraint(old - low))
    )
    if parts is None:
        raise ScheduleError(
            "W207",
            f"the iterations of '{cut.old.name}' are not cut off by bounds of the program",
            span=step.span,
            help='leave tail="remainder": the bounds of the inner loop follow the domain',
        )
    return side_by_side(parts, _place(piece, level, 0))


def _ends(piece: Piece, level: int) -> tuple[isl.Val, isl.Val]:
    return piece.hull.dim_min_val(level), piece.hull.dim_max_val(level)
