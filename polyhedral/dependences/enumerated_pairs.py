"""The least distance between two accesses of one element, by running through all iterations.

Where many copies of a loop are made, many pairs of accesses are asked for, and few iterations are left: there
this is many times faster than asking isl (`polyhedral.dependences.least_distance`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dsl.expressions.affine import Affine
from polyhedral.dependences.axes import Axis, Spot
from polyhedral.dependences.enumerated_distances import (
    Column,
    Columns,
    in_runs,
    there_in,
    value,
)

_FAR = 1 << 58  # what a number of an element and an iteration is to be less than


@dataclass(frozen=True, slots=True)
class _Table:
    """All iterations: their variables, which run of the nest each is in, and which of it."""

    columns: Columns
    run: Column
    turn: Column
    size: int


def nearest(outer: Sequence[Axis], axes: Sequence[Axis], a: Spot, b: Spot, most: int) -> int | None:
    """The least number of iterations, at least 1, by which ``b`` follows ``a`` at the same element.

    Args:
        outer: loops around the nest, which stand still while it runs.
        axes: loops that run as one, outermost first; all but the first have constant trip counts.
        a: the first access.
        b: the one behind it.
        most: iterations that are looked at.

    Returns:
        0 where it never follows; None where it was not looked at: there are more iterations, or what is not
        known of each.
    """
    if a.inside or b.inside or any(index.is_data for index in (*a.indices, *b.indices)):
        return None
    table = _table(tuple(outer), tuple(axes), most)
    if table is None or not (_variables(a) | _variables(b)) <= table.columns.keys():
        return None
    first, second = (there_in(spot.guard, table.columns, table.size) for spot in (a, b))
    elements = _elements(table, a.indices, b.indices)
    if elements is None:
        return None
    stride = int(table.turn.max(initial=0)) + 1
    # In order of elements, then of iterations; what follows in the same iteration does not count.
    stored = ((elements[0] * stride + table.turn) * 2 + 1)[first]
    loaded = ((elements[1] * stride + table.turn) * 2)[second]
    order = np.sort(np.concatenate((stored, loaded)))
    at = order >> 1
    stores = (order & 1).astype(np.bool_)
    last = np.maximum.accumulate(np.where(stores, np.arange(len(order)), -1))
    asked = np.flatnonzero(~stores & (last >= 0))
    before = at[last[asked]]
    same = before // stride == at[asked] // stride
    return int((at[asked] - before)[same].min(initial=stride)) % stride


@lru_cache(maxsize=32)
def _table(outer: tuple[Axis, ...], axes: tuple[Axis, ...], most: int) -> _Table | None:
    if any(x.step != 1 and len(x.lowers) != 1 for x in (*outer, *axes)):
        return None  # where it begins is not the same in all of its iterations
    if any(x.trips is None for x in axes[1:]):
        return None
    around = _ordered(outer)
    if around is None or any(
        not _bounds(x) <= _names((*outer, *axes[:n])) for n, x in enumerate(axes)
    ):
        return None
    found = in_runs(around, axes, most)
    if found is None:
        return None
    columns, run, size = found
    starts = np.searchsorted(run, run)
    return _Table(columns, run, np.arange(size, dtype=np.int64) - starts, size)


def _ordered(axes: tuple[Axis, ...]) -> list[Axis] | None:
    """The loops such that none has a bound of one behind it; None where something else is in a bound."""
    found: list[Axis] = []
    left = list(axes)
    while left:
        ready = [x for x in left if _bounds(x) <= _names(found)]
        if not ready:
            return None
        found += ready
        left = [x for x in left if x not in ready]
    return found


def _names(axes: Sequence[Axis]) -> frozenset[str]:
    return frozenset(x.iv for x in axes)


def _bounds(axis: Axis) -> frozenset[str]:
    """The variables in the bounds of a loop."""
    return frozenset(v for bound in (*axis.lowers, *axis.uppers) for v in bound.variables())


def _variables(spot: Spot) -> frozenset[str]:
    """The variables in the subscripts of an access and in what is known where it is."""
    expressions = (*spot.indices, *(c.expr for c in spot.guard))
    return frozenset(v for e in expressions for v in e.variables())


def _elements(
    table: _Table, a: Sequence[Affine], b: Sequence[Affine]
) -> tuple[Column, Column] | None:
    """A number for each element of each run, of both accesses; None where they are too far apart."""
    first, second, width = table.run, table.run, int(table.run.max(initial=0)) + 1
    for x, y in zip(a, b, strict=True):
        ends = [value(index, table.columns, table.size) for index in (x, y)]
        low = min(int(end.min(initial=0)) for end in ends)
        extent = max(int(end.max(initial=0)) for end in ends) - low + 1
        width *= extent
        if width * (table.size + 1) > _FAR:
            return None
        first, second = (
            number * extent + (end - low) for number, end in zip((first, second), ends, strict=True)
        )
    return first, second
