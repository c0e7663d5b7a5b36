"""The points of a set of isl as columns of numbers, many at a time."""

from __future__ import annotations

from math import prod

import islpy as isl
import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.int64]


def points(domain: isl.Set, most: int) -> list[Column] | None:
    """The values of each dimension at every point, one column a dimension; each point once.

    Args:
        domain: a bounded set.
        most: points of the box around it that are tried; None where there are more.
    """
    kind = isl.dim_type.set
    count = domain.dim(kind)
    ranges = [
        (domain.dim_min_val(k).to_python(), domain.dim_max_val(k).to_python()) for k in range(count)
    ]
    extents = [high - low + 1 for low, high in ranges]
    if prod(extents) > most:
        return None
    grid = np.indices(extents, dtype=np.int64).reshape(count, prod(extents))
    columns = [row + low for row, (low, _) in zip(grid, ranges, strict=True)]
    inside = np.zeros(prod(extents), dtype=bool)
    for part in domain.compute_divs().get_basic_sets():
        holds = np.ones_like(inside)
        for constraint in part.get_constraints():
            value = _constraint(constraint, columns, len(inside))
            holds &= value == 0 if constraint.is_equality() else value >= 0
        inside |= holds
    return [column[inside] for column in columns]


def _constraint(c: isl.Constraint, columns: list[Column], size: int) -> Column:
    """What has to be 0, or at least 0."""
    total = np.full(size, c.get_constant_val().to_python(), dtype=np.int64)
    for k, column in enumerate(columns):
        total += c.get_coefficient_val(isl.dim_type.set, k).to_python() * column
    for k in range(c.dim(isl.dim_type.div)):
        factor = c.get_coefficient_val(isl.dim_type.div, k).to_python()
        if factor:
            total += factor * _floor(c.get_div(k), columns, size)
    return total


def _floor(aff: isl.Aff, columns: list[Column], size: int) -> Column:
    """The value of an integer division, rounded down."""
    below = aff.get_denominator_val()
    divisor = int(below.to_python())

    def whole(value: isl.Val) -> int:
        return int(value.mul(below).to_python())

    total = np.full(size, whole(aff.get_constant_val()), dtype=np.int64)
    for k, column in enumerate(columns):
        total += whole(aff.get_coefficient_val(isl.dim_type.in_, k)) * column
    for k in range(aff.dim(isl.dim_type.div)):
        factor = whole(aff.get_coefficient_val(isl.dim_type.div, k))
        if factor:
            total += factor * _floor(aff.get_div(k), columns, size)
    return total // divisor
