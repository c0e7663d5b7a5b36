"""Conditions as guards: loops that are unrolled run over their whole range, the body is guarded.

Before, ``for i in range(16): for r in range(3): if 0 <= i + r - 1 < 16: S(i, r)`` is::

    for i in range(16):
      for r in range(max(0, 1 - i), min(3, 17 - i)):
        S(i, r)

After ``pipeline("i")``, which unrolls ``r``::

    for i in range(16):
      for r in range(3):
        if 1 - i <= r < 17 - i:
          S(i, r)

Only conditions that stand in the program become guards: hardware that is idle where they do not hold
is what the program says. A loop with variable bounds would have to be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import islpy as isl

from dsl.expressions.affine import Affine, Cond, Constraint
from polyhedral.isl.text import conjunction, constraint_text, dims, positional, set_of
from polyhedral.requests.annotations import unrolled_levels
from polyhedral.scop.conjunctions import Conjunction, conjunctions
from polyhedral.scop.ranges import constant_interval
from polyhedral.scop.scheduled import Piece, Place, ScheduledScop
from polyhedral.scop.scop import Statement, origin_of


def with_guards(state: ScheduledScop, changed: Iterable[Piece]) -> ScheduledScop:
    """The state with guards in the changed pieces, where bounds of unrolled loops would vary."""
    found = {id(p): parts for p in changed if (parts := _guarded(p)) is not None}
    if not found:
        return state
    return state.with_places(
        pair for p in state.pieces for pair in side_by_side(found.get(id(p), [p]), p.place)
    )


def side_by_side(parts: list[Piece], place: Place) -> list[tuple[Piece, Place]]:
    """Parts of a piece in its place, one behind the other: an iteration is in one of them only."""
    last = place[-1] if isinstance(place[-1], tuple) else (place[-1],)
    return [(part, (*place[:-1], (*last, n))) for n, part in enumerate(parts)]


def _guarded(piece: Piece) -> list[Piece] | None:
    """The piece with loops of constant trip counts, guarded; None if it needs none, or if leaving
    the conditions out does not help.
    """
    if piece.frame is piece.hull:
        return None
    levels = [k for k in unrolled_levels(piece) if constant_interval(piece, k) is None]
    if not levels:
        return None
    wide = replace(piece, hull=_widened(piece, levels[0]))
    if any(constant_interval(wide, k) is None for k in levels):
        return None
    return cut_down(wide)


def cut_down(piece: Piece, also: Iterable[Constraint] = ()) -> list[Piece] | None:
    """A piece whose hull is too large, with the guards that leave its domain: a part for each of
    the conjunctions that its conditions are. None if the program's bounds and conditions do not.

    Args:
        piece: with the loops, the domain and the hull that are wanted.
        also: constraints that hold in the domain, which may be guards too.
    """
    bindings = dict(piece.bindings)

    def here(constraints: Iterable[Constraint]) -> list[Constraint]:
        return [Constraint(c.expr.substitute(bindings), c.kind) for c in constraints]

    always = [*piece.guards, *also, *here(_bounds(piece.statement))]
    found: list[Piece] = []
    for part in product(*(_open(piece, cond, here) for cond in piece.statement.conds)):
        guards = [*always, *(c for constraints in part for c in constraints)]
        domain, needed = _needed(piece, guards)
        if not domain.is_empty():
            found.append(replace(piece, domain=domain, guards=needed))
    whole = found[0].domain
    for other in found[1:]:
        whole = whole.union(other.domain)
    return found if whole.is_equal(piece.domain) else None


def _open(
    piece: Piece, cond: Cond, here: Callable[[Conjunction], list[Constraint]]
) -> list[list[Constraint]]:
    """A condition as conjunctions over the loops; one that is empty where the hull decides it."""
    parts = [here(part) for part in conjunctions(cond)]
    union = _where(piece, parts[0])
    for part in parts[1:]:
        union = union.union(_where(piece, part))
    return [[]] if piece.hull.is_subset(union) else parts


def _needed(piece: Piece, guards: Sequence[Constraint]) -> tuple[isl.Set, tuple[Constraint, ...]]:
    """What all the guards leave of the hull, and those of them that are enough for that."""
    left = piece.hull
    needed: list[Constraint] = []
    for guard in guards:
        cut = left.intersect(_where(piece, [guard]))
        if not left.is_subset(cut):
            needed.append(guard)
            left = cut
    for guard in tuple(needed):
        others = [g for g in needed if g is not guard]
        if piece.hull.intersect(_where(piece, others)).is_subset(left):
            needed = others
    return left, tuple(needed)


def _bounds(s: Statement) -> Iterator[Constraint]:
    """The bounds of the loops around a statement."""
    for loop in s.loops:
        variable = Affine.of(loop.var)
        yield from (Constraint(variable - low) for low in loop.lowers)
        yield from (Constraint(high - variable - 1) for high in loop.uppers)
        if abs(loop.step) > 1:
            origin, step = origin_of(loop)
            yield Constraint((variable - origin) % abs(step), "==")


def _widened(piece: Piece, level: int) -> isl.Set:
    """The hull, with the conditions left out from one level on, but for the range of each loop."""
    kind, inner = isl.dim_type.set, len(piece.dims) - level
    wide = piece.hull.project_out(kind, level, inner).add_dims(kind, inner)
    for k in range(level, len(piece.dims)):
        wide = wide.lower_bound_val(kind, k, piece.hull.dim_min_val(k))
        wide = wide.upper_bound_val(kind, k, piece.hull.dim_max_val(k))
    return piece.frame.intersect(wide)


def _where(piece: Piece, guards: Sequence[Constraint]) -> isl.Set:
    names = positional(piece.names, "t")
    text = conjunction([constraint_text(g, names) for g in guards])
    return set_of(f"{{ [{', '.join(dims(len(piece.dims), 't'))}] : {text} }}")
