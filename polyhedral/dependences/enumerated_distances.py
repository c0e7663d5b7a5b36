"""Distances between stores and the loads that get their values, by running through all iterations.

Where there are few iterations this is many times faster than asking isl, and exact for every subscript and
guard: all accesses are sorted by element and time, and the last store in front of each load is the one whose
value it gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dsl.expressions.affine import Affine, Constraint, FloorDiv
from polyhedral.dependences.axes import Axis
from polyhedral.dependences.touches import Touch

Column = npt.NDArray[np.int64]  # a number for each iteration
Table = npt.NDArray[np.int64]  # and for each access
Truths = npt.NDArray[np.bool_]
Columns = Mapping[str, Column]

_RUN = ""  # the column of the runs
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
    if any(index.is_data for touch in touches for index in touch.indices):
        return None
    room = most // max(1, len(touches))
    found = in_runs(outer, axes, room)
    if found is None:
        return None
    columns, run, size = found
    there = np.array([there_in(touch.guard, columns, size) for touch in touches])
    elements = _numbered(touches, columns, run, size)
    if elements is None:
        return None
    # One access after the other, in the order in which they are made.
    made = np.flatnonzero(there.T)
    when, which = np.divmod(made, len(touches))
    stores = np.array([touch.stores for touch in touches], dtype=np.bool_)
    return _least(elements.T.reshape(-1)[made], when, which, stores)


def in_runs(
    outer: Sequence[Axis], axes: Sequence[Axis], most: int
) -> tuple[Columns, Column, int] | None:
    """The values of all variables in each iteration, in order, which run of the loops inside it is of, and how many there are.

    Args:
        outer: loops around those inside, none of which has a bound of one behind it.
        axes: the loops inside, outermost first.
        most: iterations; None where there are more.
    """
    runs = _iterations(outer, {}, 1, most)
    if runs is None:
        return None
    columns, size = runs
    number: Column = np.arange(size, dtype=np.int64)
    found = _iterations(axes, {**columns, _RUN: number}, size, most)
    return None if found is None else (found[0], found[0][_RUN], found[1])


def _iterations(
    axes: Sequence[Axis], around: Columns, size: int, most: int
) -> tuple[Columns, int] | None:
    """The values of all variables in each iteration, in order; None where there are too many."""
    columns = dict(around)
    for axis in axes:
        if not axis.lowers or not axis.uppers:
            return None
        low = np.maximum.reduce([value(b, columns, size) for b in axis.lowers])
        high = np.minimum.reduce([value(b, columns, size) for b in axis.uppers])
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


def value(affine: Affine, columns: Columns, size: int) -> Column:
    """An expression in each iteration."""
    total = np.full(size, affine.const, dtype=np.int64)
    for atom, factor in affine.terms:
        if isinstance(atom, FloorDiv):
            total += factor * (value(atom.numerator, columns, size) // atom.denominator)
        else:
            total += factor * columns[atom]
    return total


def there_in(guard: Sequence[Constraint], columns: Columns, size: int) -> Truths:
    """The iterations in which an access under a guard is made."""
    there = np.ones(size, dtype=np.bool_)
    for condition in guard:
        there &= _holds(condition, columns, size)
    return there


def _holds(condition: Constraint, columns: Columns, size: int) -> Truths:
    """The iterations in which a condition is met."""
    found = value(condition.expr, columns, size)
    return found >= 0 if condition.kind == ">=" else found == 0


def _numbered(touches: Sequence[Touch], columns: Columns, run: Column, size: int) -> Table | None:
    """One number for each element of each run, by access and iteration; None where they are too far apart."""
    total = np.zeros((len(touches), size), dtype=np.int64)
    rows = [
        np.array([value(index, columns, size) for index in way]) for way in _by_dimension(touches)
    ]
    width = 1
    for row in (run, *rows) if size else ():
        low, extent = int(row.min()), int(row.max()) - int(row.min()) + 1
        width *= extent
        if width > _FAR:
            return None
        total = total * extent + (row - low)
    return total


def _by_dimension(touches: Sequence[Touch]) -> Iterator[tuple[Affine, ...]]:
    return zip(*(touch.indices for touch in touches), strict=True)


def _least(
    elements: Column, when: Column, which: Column, stores: Truths
) -> dict[tuple[int, int], int]:
    """For each pair of a store and a load the least time between.

    Args:
        elements: of all accesses, in the order in which they are made.
        when: the iterations.
        which: the accesses.
        stores: which of these are stores.
    """
    few = len(elements) > 0 and int(elements.max()) < 1 << 16
    # Small numbers are sorted by their digits, many times faster.
    order = np.argsort(elements.astype(np.uint16) if few else elements, kind="stable")
    stored = stores[which[order]]
    last = np.maximum.accumulate(np.where(stored, np.arange(len(order)), -1))
    loads = np.flatnonzero(~stored & (last >= 0))
    before, loads = order[last[loads]], order[loads]
    same = elements[before] == elements[loads]
    before, loads = before[same], loads[same]
    pairs = which[before] * len(stores) + which[loads]
    names, number = np.unique(pairs, return_inverse=True)
    least = np.full(len(names), len(when) + 1, dtype=np.int64)
    np.minimum.at(least, number, when[loads] - when[before])
    return {
        divmod(pair, len(stores)): distance
        for pair, distance in zip(names.tolist(), least.tolist(), strict=True)
    }
