"""Which vectors of factors of an order are priced: of each magnitude of copies those that seem to take the fewest cycles.

There may be 100,000 vectors, and pricing one takes a tenth of a millisecond. What all of them would take by their
iterations and recurrences alone is found at once; ports and units are left to `dse.space.costs.cost`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dse.space.nests.nest import Carry, Nest, NestLoop, Order, Vector

_PRICED = (80, 40, 16)
"""Vectors of each magnitude of copies: of the largest, the next, and each other one."""

_OF_EACH = 2  # of them that unroll the same loops completely: those have no ports to wait for
_STEPS = 4  # magnitudes from a number of copies to twice as many

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


@dataclass(slots=True)
class _Magnitudes:
    """The vectors of an order by the magnitude of their copies, with their copies, the fastest first."""

    copies: int = 0  # at most
    found: list[tuple[_Ints, _Ints]] = field(default_factory=list)
    chosen: dict[tuple[int, int], list[Vector]] = field(default_factory=dict)
    """Those of a magnitude, by its position and how many are priced, where all of it is within the copies."""

    def priced(self, position: int, most: int, rows: _Ints, extents: _Ints) -> list[Vector]:
        """The vectors of a magnitude, none of which has too many copies, that are priced."""
        found = self.chosen.get((position, most))
        if found is None:
            found = self.chosen[position, most] = _priced(rows, most, extents)
        return found


@lru_cache(maxsize=1024)
def _magnitudes(_: Nest, __: int) -> _Magnitudes:
    """What is known of an order of a nest: smaller budgets have some of the same vectors."""
    return _Magnitudes()


def fewest(nest: Nest, number: int, copies: int) -> Iterator[Vector]:
    """Of each magnitude of copies the vectors that seem to take the fewest cycles.

    Args:
        nest: the nest.
        number: of its order.
        copies: of a statement, at most.
    """
    order, known = nest.orders[number], _magnitudes(nest, number)
    copies = max(copies, order.inside)  # there are so many anyway
    if known.copies < copies:
        known.copies, known.found = copies, list(_by_magnitude(order, copies))
        known.chosen.clear()
    extents = np.array([loop.extent or 0 for loop in order.loops])
    k = 0
    for position in reversed(range(len(known.found))):
        rows, counts = known.found[position]
        mine = counts <= copies
        if not mine.any():
            continue
        most = _PRICED[min(k, len(_PRICED) - 1)]
        if mine.all():
            yield from known.priced(position, most, rows, extents)
        else:
            yield from _priced(rows[mine], most, extents)
        k += 1


def _priced(rows: _Ints, most: int, extents: _Ints) -> list[Vector]:
    """The first ones, and the first few of each set of loops that are unrolled completely."""
    chosen = _rank((rows == extents) @ (1 << np.arange(len(extents)))) < _OF_EACH
    chosen[:most] = True
    return list(map(tuple, rows[chosen].tolist()))


def _rank(kinds: _Ints) -> _Ints:
    """How many of the same kind are in front of each."""
    by_kind = np.argsort(kinds, kind="stable")
    ordered = kinds[by_kind]
    found = np.empty_like(by_kind)
    found[by_kind] = np.arange(len(kinds)) - np.searchsorted(ordered, ordered)
    return found


def _by_magnitude(order: Order, copies: int) -> Iterator[tuple[_Ints, _Ints]]:
    band = order.band
    rows = _rows(band, max(1, copies // order.inside))
    inside = np.array(order.plain[len(band) :], dtype=np.int64)
    counts = order.inside * rows.prod(axis=1)
    extents = np.array([loop.extent or 1 for loop in band], dtype=np.int64)
    uneven = (extents % rows != 0).any(axis=1)
    first = np.lexsort((*rows.T[::-1], uneven, _cycles(order, rows)))
    rows, counts = rows[first], counts[first]
    whole = np.concatenate([rows, np.tile(inside, (len(rows), 1))], axis=1)
    magnitudes = np.floor(_STEPS * np.log2(counts)).astype(np.int64)
    for magnitude in np.unique(magnitudes):
        mine = magnitudes == magnitude
        yield whole[mine], counts[mine]


def _rows(band: tuple[NestLoop, ...], copies: int) -> _Ints:
    """The factors of the loops of a band, a row each, of at most so many copies that leave a loop with blocks."""
    rows, counts = np.ones((1, 0), dtype=np.int64), np.ones(1, dtype=np.int64)
    for loop in band:
        factors = np.array(loop.factors, dtype=np.int64)
        every = counts[:, None] * factors
        row, factor = np.nonzero(every <= copies)
        rows = np.concatenate([rows[row], factors[factor][:, None]], axis=1)
        counts = every[row, factor]
    extents = [loop.extent for loop in band]
    if all(extent == 1 for extent in extents):
        return rows
    left = np.array([extent or 0 for extent in extents], dtype=np.int64)
    some: _Ints = rows[(rows != left).any(axis=1)]
    return some


def _cycles(order: Order, rows: _Ints) -> _Floats:
    """About the cycles of all iterations, as far as recurrences tell; see `dse.space.costs.cost`."""
    band = order.band
    blocks = np.ones(rows.shape)
    for k, loop in enumerate(band):
        blocks[:, k] = loop.average if loop.extent is None else -(-loop.extent // rows[:, k])
    interval = np.ones(len(rows))
    for k, loop in enumerate(band) if not order.drains else ():
        for carry in loop.carries:
            wait = _wait(carry, band, blocks, rows, k)
            interval = np.maximum(interval, np.where(blocks[:, k] > 1, np.ceil(wait), 1))
    found: _Floats = interval * blocks.prod(axis=1)
    return found


def _wait(
    carry: Carry, band: tuple[NestLoop, ...], blocks: _Floats, rows: _Ints, level: int
) -> _Floats:
    """Cycles from one iteration to the next until a value is there that a loop hands on."""
    copies, terms = rows[:, level], rows[:, level]
    for k, loop in enumerate(band) if not carry.tree else ():
        if k != level and any(map(carry.same_sum, loop.carries)):
            terms = terms * rows[:, k]
    delay = np.full(len(rows), carry.delay)
    if carry.kept is not None and carry.moving:
        moves = [k for k, loop in enumerate(band) if loop.name in carry.moving]
        delay[~(blocks[:, moves] > 1).any(axis=1)] = carry.kept
    if not carry.tree:
        delay += carry.more * (np.maximum(1, terms // carry.distance) - 1)
    if carry.anywhere:
        return delay
    inside = blocks[:, level + 1 :].prod(axis=1)
    found: _Floats = delay / np.maximum(1, inside * np.maximum(1, carry.distance / copies))
    return found
