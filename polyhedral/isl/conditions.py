"""Sets of isl as conditions and bounds of loops of the language, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import islpy as isl

from dsl.expressions.affine import Affine, And, Cond, Constraint, Or

Limits = tuple[tuple[Affine, ...], tuple[Affine, ...]]
"""Lower bounds, of which the greatest counts, and exclusive upper ones, of which the least does."""


def condition_of(points: isl.Set, names: Sequence[str]) -> Cond:
    """What holds exactly at the points; ``names`` are those of the dimensions."""
    parts = points.coalesce().compute_divs().get_basic_sets()
    found = tuple(sorted((_conjunction(part, names) for part in parts), key=str))
    return found[0] if len(found) == 1 else Or(found)


def _conjunction(part: isl.BasicSet, names: Sequence[str]) -> Cond:
    found = (_constraint(c, names) for c in part.get_constraints())
    constraints = tuple(sorted(found, key=str))
    return constraints[0] if len(constraints) == 1 else And(constraints)


def _constraint(c: isl.Constraint, names: Sequence[str]) -> Constraint:
    kind: Literal[">=", "=="] = "==" if c.is_equality() else ">="
    return Constraint(_linear(c, names), kind)


def _linear(c: isl.Constraint, names: Sequence[str]) -> Affine:
    total = Affine.of(c.get_constant_val().to_python())
    for k, name in enumerate(names):
        total += Affine.of(name) * c.get_coefficient_val(isl.dim_type.set, k).to_python()
    for k in range(c.dim(isl.dim_type.div)):
        factor = c.get_coefficient_val(isl.dim_type.div, k).to_python()
        if factor:
            total += _floor(c.get_div(k), names) * factor
    return total


def _floor(aff: isl.Aff, names: Sequence[str]) -> Affine:
    """An integer division, rounded down."""
    below = aff.get_denominator_val()

    def whole(value: isl.Val) -> int:
        return int(value.mul(below).to_python())

    total = Affine.of(whole(aff.get_constant_val()))
    for k, name in enumerate(names):
        total += Affine.of(name) * whole(aff.get_coefficient_val(isl.dim_type.in_, k))
    for k in range(aff.dim(isl.dim_type.div)):
        factor = whole(aff.get_coefficient_val(isl.dim_type.div, k))
        if factor:
            total += _floor(aff.get_div(k), names) * factor
    return total // int(below.to_python())


def value_told(points: isl.Set, dim: int, names: Sequence[str]) -> Affine | None:
    """What a dimension is at all points in terms of those before it; None where an equation without divisions does not say it."""
    found = []
    for c in points.affine_hull().get_constraints():
        own = c.get_coefficient_val(isl.dim_type.set, dim).to_python()
        later = any(
            c.get_coefficient_val(isl.dim_type.set, k).to_python()
            for k in range(dim + 1, len(names))
        )
        divides = any(
            c.get_coefficient_val(isl.dim_type.div, k).to_python()
            for k in range(c.dim(isl.dim_type.div))
        )
        if c.is_equality() and abs(own) == 1 and not later and not divides:
            found.append((_linear(c, names) - Affine.of(names[dim]) * own) * -own)
    return min(found, key=str, default=None)


def limits_of(points: isl.Set, names: Sequence[str], within: isl.Set | None = None) -> Limits:
    """Bounds of the last dimension, in terms of those before, that hold at all points.

    They are exact where the points are what simple bounds say.

    Args:
        points: not empty, and bounded.
        names: of the dimensions.
        within: contains the points; the bounds keep to what simple bounds it has.
    """
    last = len(names) - 1
    hull = points.remove_divs().coalesce().simple_hull()
    box = isl.Set.from_basic_set(hull)
    if within is not None:
        box = box.intersect(within)
    box = box.lower_bound_val(isl.dim_type.set, last, points.dim_min_val(last))
    box = box.upper_bound_val(isl.dim_type.set, last, points.dim_max_val(last))
    lowers: list[Affine] = []
    uppers: list[Affine] = []
    plain = isl.BasicSet.universe(points.get_space())
    for c in box.simple_hull().get_constraints():
        if abs(c.get_coefficient_val(isl.dim_type.set, last).to_python()) <= 1:
            plain = plain.add_constraint(c)
    for c in plain.remove_redundancies().get_constraints():
        factor = c.get_coefficient_val(isl.dim_type.set, last).to_python()
        if not factor:
            continue
        rest = _linear(c, names) - Affine.of(names[last]) * factor
        if factor > 0 or c.is_equality():  # x + rest >= 0
            lowers.append(-rest if factor > 0 else rest)
        if factor < 0 or c.is_equality():  # -x + rest >= 0
            uppers.append((rest if factor < 0 else -rest) + 1)
    low, high = points.dim_min_val(last).to_python(), points.dim_max_val(last).to_python()
    return _in_order(lowers) or (Affine.of(low),), _in_order(uppers) or (Affine.of(high + 1),)


def _in_order(bounds: Sequence[Affine]) -> tuple[Affine, ...]:
    """Each once, constants last: isl promises no order."""
    return tuple(sorted(dict.fromkeys(bounds), key=lambda e: (e.is_const, str(e))))
