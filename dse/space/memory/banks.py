"""The banks that a nest asks for (`polyhedral.banks.wanted`), and what its accesses then need of ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import ceil, gcd, prod

import numpy as np
from numpy.typing import NDArray

from dse.space.nests.look_ups import FAR, is_anywhere, registers
from dse.space.nests.nest import ANY, Order, Use, Vector
from dsl.expressions.affine import Affine, Atom
from polyhedral.banks.wanted import apart, common, widest

_MANY = 128  # copies whose accesses are looked at one by one
_FEW = 6  # of each loop, where there are more
_TURNING = 512  # copies, all of those of loops in floors and remainders among them
_RAVELLED = 1 << 62  # places that are told apart by one number

Demand = dict[tuple[str, int], int]  # (array, dimension) to the factor asked for
Moving = tuple[tuple[tuple[Atom, int], ...], ...]  # the terms of each subscript
Places = NDArray[np.int64]  # of elements, a row each with a subscript for each dimension


def demand(order: Order, vector: Vector) -> Demand:
    """The factors that one nest asks for; a dimension that is not there needs no partition."""
    if order.words:
        return {}
    copies, gone = _copies(order, vector)
    return {
        (array, d): mine.possible(d, factor)
        for array, mine in _arrays_of(order).items()
        for d, factor in enumerate(_wanted_by(mine, *mine.asked(copies, gone)))
        if factor > 1
    }


def widest_of(use: Use, dim: int, copies: Mapping[str, int], gone: Set[str]) -> int:
    """The factor that one subscript of an access asks for."""
    index = use.indices[dim]
    if is_anywhere(index):
        return registers(use.indices, dim, copies, use.shape)
    return widest(index, copies, gone, use.shape[dim])


def _copies(order: Order, vector: Vector) -> tuple[dict[str, int], frozenset[str]]:
    """Copies of each loop, and the loops that are unrolled completely."""
    pairs = list(zip(order.loops, vector, strict=True))
    unrolled = {loop.name: u for loop, u in pairs}
    return unrolled, frozenset(loop.name for loop, u in pairs if loop.extent == u)


def port_interval(order: Order, vector: Vector, registers: frozenset[str] = frozenset()) -> int:
    """Cycles that the accesses of one body need at the ports of their banks.

    Each element counts once however often it is read. An access of which the bank is not known is
    at every bank. Arrays in ``registers`` have no ports.
    """
    interval = 1
    for array, mine, places, known in _ports_of(order):
        if array in registers:
            continue
        key = tuple([vector[k] for k in places])
        own = known.get(key)
        if own is None:
            own = known[key] = _interval_of_own(mine, *mine.asked(*_copies(order, vector)))
        interval = max(interval, own)
    return interval


def interval_with(order: Order, vector: Vector, array: str, factors: Mapping[int, int]) -> int:
    """Cycles that the accesses of one body to an array need, if it is partitioned like this.

    Args:
        order: of the nest.
        vector: copies of each loop.
        array: the array.
        factors: by dimension; 1 where there is none.
    """
    mine = _arrays_of(order).get(array)
    if mine is None:
        return 1
    copies, gone = mine.asked(*_copies(order, vector))
    own = _wanted_by(mine, copies, gone)
    given = [factors.get(d, 1) for d in range(len(own))]
    # What another nest asks for does no harm as long as it is a multiple of what this one does.
    kept = tuple(
        f if g >= n else gcd(f, g) if f % g and g % f else min(f, g)
        for f, g, n in zip(own, given, mine.uses[0].shape, strict=True)
    )
    return _interval_with(mine, copies, kept)


Copies = tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class _Mine:
    """The accesses of one array in a nest, and the variables in their subscripts. Orders of a nest share them, so
    that they are compared by identity: what is known of them is asked for often.
    """

    uses: tuple[Use, ...]
    moving: frozenset[str]

    def asked(
        self, copies: Mapping[str, int], gone: frozenset[str]
    ) -> tuple[Copies, frozenset[str]]:
        """The copies of loops that the array moves with, and which of these have nothing left."""
        own = tuple(sorted((v, u) for v, u in copies.items() if v in self.moving))
        return own, gone & self.moving

    def possible(self, dim: int, factor: int) -> int:
        """The factor; of an array whose elements are apart anyway, no more than these."""
        (use, *_) = self.uses
        return min(factor, use.shape[dim]) if use.ports[2] >= ANY else factor


@lru_cache(maxsize=4096)
def _mine(uses: tuple[Use, ...]) -> _Mine:
    names = frozenset(v for use in uses for index in use.indices for v in index.variables())
    return _Mine(uses, names)


@lru_cache(maxsize=4096)
def _arrays_of(order: Order) -> Mapping[str, _Mine]:
    """The accesses of each array."""
    found: dict[str, list[Use]] = {}
    for use in order.uses:
        found.setdefault(use.array, []).append(use)
    return {array: _mine(tuple(uses)) for array, uses in found.items()}


Positions = tuple[int, ...]


@lru_cache(maxsize=4096)
def _ports_of(order: Order) -> tuple[tuple[str, _Mine, Positions, dict[Vector, int]], ...]:
    """Of each array the positions of the loops that it moves with, and the intervals by the factors of these."""
    names = [loop.name for loop in order.loops]
    return tuple(
        (array, mine, tuple(k for k, name in enumerate(names) if name in mine.moving), {})
        for array, mine in _arrays_of(order).items()
    )


@lru_cache(maxsize=200_000)
def _wanted_by(mine: _Mine, copies: Copies, gone: frozenset[str]) -> tuple[int, ...]:
    return tuple(_wanted(mine.uses, dict(copies), gone))


@lru_cache(maxsize=200_000)
def _interval_of_own(mine: _Mine, copies: Copies, gone: frozenset[str]) -> int:
    """With the banks that it asks for."""
    return _interval_with(mine, copies, _wanted_by(mine, copies, gone))


@lru_cache(maxsize=200_000)
def _interval_with(mine: _Mine, copies: Copies, factors: tuple[int, ...]) -> int:
    """As `interval_at`, asked with what is quickly compared."""
    return _interval_of(mine.uses, dict(copies), factors)


@lru_cache(maxsize=100_000)
def interval_at(
    uses: tuple[Use, ...], copies: tuple[tuple[str, int], ...], factors: tuple[int, ...]
) -> int:
    """Cycles that the accesses of one body to an array need at its ports.

    Args:
        uses: of one array.
        copies: of each loop in their subscripts.
        factors: of each dimension.
    """
    return _interval_of(uses, dict(copies), factors)


def _wanted(uses: Sequence[Use], copies: Mapping[str, int], gone: frozenset[str]) -> list[int]:
    """The factor of each dimension that the accesses of one array ask for."""
    shape = uses[0].shape
    found = [1] * len(shape)
    for use in uses:
        for d, n in enumerate(shape):
            found[d] = common(found[d], widest_of(use, d, copies, gone), n)
    return _apart(uses, copies, gone, found) if len(uses) > 1 else found


def _apart(
    uses: Sequence[Use], copies: Mapping[str, int], gone: frozenset[str], found: list[int]
) -> list[int]:
    """The factors, and others in the dimensions in which different accesses are apart in any iteration, where these
    would wait for each other at a port. Each access by itself asks for nothing there.
    """
    interval = 0
    for d, extent in enumerate(uses[0].shape):
        indices = list({use.indices[d]: None for use in uses})
        if len(indices) == 1 or any(map(is_anywhere, indices)):
            continue
        factor = apart(indices, copies, gone, extent)
        if factor > found[d]:
            interval = interval or _interval_of(uses, copies, found)
            others = [factor if k == d else f for k, f in enumerate(found)]
            if interval > 1 and (fewer := _interval_of(uses, copies, others)) < interval:
                found, interval = others, fewer
    return found


def _interval_of(uses: Sequence[Use], copies: Mapping[str, int], factors: Sequence[int]) -> int:
    """Cycles that the accesses of an array need with these factors."""
    shape = uses[0].shape
    if all(f >= n for f, n in zip(factors, shape, strict=True)):
        return 1  # registers
    updated = {use.indices: again for use in uses if (again := _again(use, uses, copies)) > 1}
    reads = writes = 0
    for indices, again in ((None, 1), *updated.items()):
        own = [use for use in uses if (use.indices if use.indices in updated else None) == indices]
        reads += again * _busiest([use for use in own if not use.write], copies, factors)
        writes += again * _busiest([use for use in own if use.write], copies, factors)
    read, write, both = uses[0].ports
    return max(
        1,
        ceil(reads / max(1, read)),
        ceil(writes / max(1, write)),
        ceil((reads + writes) / max(1, both)),
    )


def _again(use: Use, uses: Sequence[Use], copies: Mapping[str, int]) -> int:
    """How many copies read and write an element that is updated in place, one after the other.

    One, if nothing else is accessed between that may be the same element: then it is kept in a register.
    """
    if not use.write or all(other.indices == use.indices for other in uses):
        return 1
    moved = {v for index in use.indices for v in index.variables()}
    copied = {v for other in uses for index in other.indices for v in index.variables()} - moved
    copied &= use.updating
    again = prod(copies.get(v, 1) for v in copied)
    return again if again > 1 and any(_may_meet(use, other) for other in uses) else 1


def _may_meet(use: Use, other: Use) -> bool:
    """Whether two accesses with different subscripts may be of one element, for all that these say."""
    apart = any(
        a.terms == b.terms and a.const != b.const
        for a, b in zip(use.indices, other.indices, strict=True)
    )
    return other.indices != use.indices and not apart


def _busiest(uses: Sequence[Use], copies: Mapping[str, int], factors: Sequence[int]) -> int:
    """The most elements that one bank is asked for."""
    if not uses:
        return 0
    first = uses[0]
    if len(uses) == 1 and _independent(first, copies):
        most = 1
        for index, factor in zip(first.indices, factors, strict=True):
            most *= max(Counter(p % factor for p in _places(index, copies)).values())
        return most
    small = _clipped(uses, copies)
    fewer = [min(f, _fewest(f, d, uses, copies, small)) for d, f in enumerate(factors)]
    strides = np.cumprod([1, *fewer[:-1]], dtype=np.int64)
    touched = _elements(tuple(uses), tuple(sorted(small.items())))
    banks = [(own % fewer) @ strides for own in touched]
    _, times = np.unique(np.concatenate(banks), return_counts=True)
    left = prod(copies[v] // u for v, u in small.items()) if _looked_up(uses) else 1
    return int(times.max()) * left


def _looked_up(uses: Sequence[Use]) -> bool:
    """Whether each copy accesses an element of its own, of which no bank is known."""
    return any(is_anywhere(index) for use in uses for index in use.indices)


def _independent(use: Use, copies: Mapping[str, int]) -> bool:
    """Whether no unrolled loop is in two subscripts."""
    found = [v for index in use.indices for v in index.variables() if copies.get(v, 1) > 1]
    return len(found) == len(set(found)) and all(index.is_linear for index in use.indices)


def _places(index: Affine, copies: Mapping[str, int]) -> set[int]:
    """The values of a subscript in the copies of a body, loops that are left at zero."""
    steps = [(c, copies.get(str(v), 1)) for v, c in index.terms]
    ranges = [range(0, c * u, c) for c, u in steps if u > 1]
    return {index.const + sum(point) for point in product(*ranges)}


def _clipped(uses: Sequence[Use], copies: Mapping[str, int]) -> dict[str, int]:
    """Fewer copies of each loop where there are many: the pattern at a bank stays the same. Of loops in floors and
    remainders, of which it does not, all, unless these are too many.
    """
    indices = {index for use in uses for index in use.indices}
    used = {str(v) for index in indices for v in index.variables()}
    mine = {v: u for v, u in copies.items() if v in used}
    if prod(mine.values()) <= _MANY:
        return mine
    turning = {str(v) for index in indices if not index.is_linear for v in index.variables()}
    found = {v: u if v in turning else min(u, _FEW) for v, u in mine.items()}
    if prod(found.values()) <= _TURNING:
        return found
    return {v: min(u, _FEW) for v, u in mine.items()}


def _fewest(
    factor: int, dim: int, uses: Sequence[Use], copies: Mapping[str, int], small: Mapping[str, int]
) -> int:
    """The factor of a dimension for the clipped copies: as many times less as those of the loop that is clipped most."""
    clipped = (
        max(1, factor * small[v] // copies[v])
        for use in uses
        for v in use.indices[dim].variables()
        if copies.get(v, 1) > small.get(v, 1)
    )
    return min(clipped, default=factor)


@lru_cache(maxsize=1024)
def _elements(uses: tuple[Use, ...], copies: Copies) -> tuple[Places, ...]:
    """What the copies of accesses touch, each element once: of all that move alike the places, a row each,
    relative to where they move.
    """
    alike: dict[Moving, set[tuple[int, ...]]] = {}
    for use in uses:
        moving = tuple(index.terms for index in use.indices)
        alike.setdefault(moving, set()).add(tuple(index.const for index in use.indices))
    return tuple(_places_of(moving, consts, dict(copies)) for moving, consts in alike.items())


def _places_of(
    moving: Moving, consts: Iterable[tuple[int, ...]], copies: Mapping[str, int]
) -> Places:
    """The places of accesses with these constants, each once."""
    own = np.array(list(consts), dtype=np.int64)
    found = (own[:, None] + _steps(moving, copies)).reshape(-1, len(moving))
    low = found.min(axis=0)
    found -= low
    extents = tuple(int(x) + 1 for x in found.max(axis=0))
    if prod(extents) > _RAVELLED:
        few: Places = np.unique(found, axis=0) + low
        return few
    numbers = np.unique(np.ravel_multi_index(tuple(found.T), extents))
    places: Places = np.stack(np.unravel_index(numbers, extents), axis=1) + low
    return places


def _steps(moving: Moving, copies: Mapping[str, int]) -> Places:
    """Where the copies of subscripts are, a row each, relative to the first, loops that are left at zero."""
    indices = [Affine(terms) for terms in moving]
    names = sorted({v for index in indices for v in index.variables() if copies.get(v, 1) > 1})
    if not names:
        return np.zeros((1, len(indices)), dtype=np.int64)
    grid = np.indices([copies[v] for v in names]).reshape(len(names), -1).T
    columns = []
    for index in indices:
        factors = [index.coefficient(v) for v in names]
        if is_anywhere(index):
            # Each copy of the loops that it moves with has an element of its own.
            own = [copies[v] if v in index.variables() else 1 for v in names]
            factors = [FAR * prod(own[:n]) * (u > 1) for n, u in enumerate(own)]
        elif not index.is_linear:
            others = dict.fromkeys(index.variables(), 0)
            points = (dict(zip(names, point, strict=True)) for point in grid.tolist())
            columns.append(np.array([index.evaluate(others | p) for p in points], dtype=np.int64))
            continue
        columns.append(grid @ np.array(factors, dtype=np.int64))
    return np.stack(columns, axis=1)
