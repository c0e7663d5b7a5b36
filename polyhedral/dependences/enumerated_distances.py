"""Distances between stores and the loads that get their values, by running through all iterations.

Where there are few iterations this is many times faster than asking isl, and exact for every subscript and
guard: all accesses are sorted by element and time, and the last store in front of each load is the one whose
value it gets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dsl.expressions.affine import Affine, Constraint, FloorDiv
from polyhedral.dependences.least_distance import Axis
from polyhedral.dependences.touches import Touch

Column = npt.NDArray[np.int64]  # a number for each iteration
Columns = Mapping[str, Column]

_FAR = 1 << 60  # elements from which on numbers could overflow


def enumerated(
    outer: Sequence[Axis], axes: Sequence[Axis], touches: Sequence[Touch], most: int
) -> dict[tuple[int, int], int] | None:
    """From each store to each load that gets its value in some iteration: the least distance.

    Args:
        outer: loops around the nest, which stand still while it runs.
        axes: loops that run as one, outermost first.
        touches: all accesses of one memory in an iteration, in program order.
        most: accesses in all iterations that are looked at.

    Returns:
        Distances, in iterations of the nest, by the positions of the store and the load; None where there
        are more accesses than that, or loops without an end.
    """
    room = most // max(1, len(touches))
    runs = _iterations(outer, {}, 1, room)
    if runs is None:
        return None
    columns, size = runs
    number: Column = np.arange(size, dtype=np.int64)
    found = _iterations(axes, {**columns, "": number}, size, room)
    if found is None:
        return None
    columns, size = found
    run = columns.get("", number)
    accesses = [_places(touch, columns, run, size) for touch in touches]
    when = np.concatenate([times for times, _ in accesses])
    elements = _numbered(np.concatenate([places for _, places in accesses], axis=1))
    if elements is None:
        return None
    which = np.repeat(np.arange(len(touches)), [len(times) for times, _ in accesses])
    return _least(elements, when, which, np.array([t.stores for t in touches], dtype=np.bool_))


def _iterations(
    axes: Sequence[Axis], around: Columns, size: int, most: int
) -> tuple[Columns, int] | None:
    """The values of all variables in each iteration, in order; None where there are too many."""
    columns = dict(around)
    for axis in axes:
        if not axis.lowers or not axis.uppers:
            return None
        low = np.maximum.reduce([_value(b, columns, size) for b in axis.lowers])
        high = np.minimum.reduce([_value(b, columns, size) for b in axis.uppers])
        trips = np.maximum(0, -((low - high) // axis.step))
        total = int(trips.sum())
        if total > most:
            return None
        first = np.repeat(np.cumsum(trips) - trips, trips)
        columns = {name: np.repeat(column, trips) for name, column in columns.items()}
        turn = np.arange(total, dtype=np.int64) - first
        columns[axis.iv] = np.repeat(low, trips) + axis.step * turn
        size = total
    return columns, size


def _value(affine: Affine, columns: Columns, size: int) -> Column:
    total = np.full(size, affine.const, dtype=np.int64)
    for atom, factor in affine.terms:
        if isinstance(atom, FloorDiv):
            total += factor * (_value(atom.numerator, columns, size) // atom.denominator)
        else:
            total += factor * columns[atom]
    return total


def _places(
    touch: Touch, columns: Columns, run: Column, size: int
) -> tuple[Column, npt.NDArray[np.int64]]:
    """The iterations in which an access is made, and the run and the subscripts in each of them."""
    there = np.ones(size, dtype=np.bool_)
    for condition in touch.guard:
        there &= _holds(condition, columns, size)
    rows = [run, *(_value(index, columns, size) for index in touch.indices)]
    return np.flatnonzero(there), np.array([row[there] for row in rows])


def _holds(condition: Constraint, columns: Columns, size: int) -> npt.NDArray[np.bool_]:
    value = _value(condition.expr, columns, size)
    return value >= 0 if condition.kind == ">=" else value == 0


def _numbered(places: npt.NDArray[np.int64]) -> Column | None:
    """One number for each element; None where there are too many of them to number."""
    total = np.zeros(places.shape[1], dtype=np.int64)
    if not places.shape[1]:
        return total
    width = 1
    for row in places:
        low, extent = int(row.min()), int(row.max()) - int(row.min()) + 1
        width *= extent
        if width > _FAR:
            return None
        total = total * extent + (row - low)
    return total


def _least(
    elements: Column, when: Column, which: Column, stores: npt.NDArray[np.bool_]
) -> dict[tuple[int, int], int]:
    """For each pair of a store and a load the least time between."""
    order = np.lexsort((which, when, elements))
    elements, when, which = elements[order], when[order], which[order]
    stored = stores[which]
    place = np.arange(len(order), dtype=np.int64)
    last = np.maximum.accumulate(np.where(stored, place, -1))
    loads = np.flatnonzero(~stored & (last >= 0))
    before = last[loads]
    same = elements[before] == elements[loads]
    loads, before = loads[same], before[same]
    pairs = which[before] * len(stores) + which[loads]
    found: dict[tuple[int, int], int] = {}
    by_pair = np.lexsort((when[loads] - when[before], pairs))
    unique, first = np.unique(pairs[by_pair], return_index=True)
    distances = (when[loads] - when[before])[by_pair][first]
    for pair, distance in zip(unique.tolist(), distances.tolist(), strict=True):
        found[divmod(pair, len(stores))] = distance
    return found
