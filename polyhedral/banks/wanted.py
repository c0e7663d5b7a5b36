"""Banks solved from the accesses: what the unrolled copies touch at once should lie apart.

A subscript ``sum(c_v * v) + c``, where loop v runs in blocks of ``u_v`` copies, has a bank that is
known in every copy if the factor of a cyclic partition divides ``c_v * u_v`` for every loop that is
left, so the greatest common divisor of these is the widest partition without multiplexers. A floor
``c * ((a * v + ...) // d)`` moves by ``c * a * u_v / d`` from block to block where d divides ``a * u_v``, and else by
multiples of ``c``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product
from math import gcd, lcm, prod

from dsl.expressions.affine import Affine, FloorDiv

MAX_BANKS = 1024
"""Of one array that a design may ask for. More make multiplexers that no clock survives."""
_REGISTERS = 16  # elements of a dimension that may all be apart
_NEARLY = 7 / 8  # of the elements of a dimension, which then may all be apart, too


def widest(index: Affine, copies: Mapping[str, int], gone: Set[str], extent: int) -> int:
    """The widest cyclic partition that one subscript can tell apart; 1 if nothing is unrolled.

    Args:
        index: the subscript.
        copies: of each loop, by its variable.
        gone: loops of which nothing is left to run.
        extent: of the dimension.
    """
    names = index.variables()
    if index.is_data or all(copies.get(v, 1) == 1 for v in names):
        return 1
    left = [m for v in sorted(names - gone) for m in _moves(index, v, copies.get(v, 1)) if m]
    if left:
        return min(gcd(*left), extent)
    # Constant in every copy: as many banks as elements from the first touched to the last. Where that is
    # nearly all of them, the rest has banks too: registers, instead of memories of one or two elements.
    span = _span(index, copies)
    return extent if span >= _NEARLY * extent else span


def apart(indices: Sequence[Affine], copies: Mapping[str, int], gone: Set[str], extent: int) -> int:
    """The fewest banks in which what several subscripts touch at once is all apart, each bank known in every copy; 1 where
    there are none: channels of a pixel, `x[i, 0] + x[i, 1]`, or the parts of numbers one after the other, `x[2 * i + 1]`.

    Args:
        indices: of one dimension, without floors and data.
        copies: of each loop, by its variable.
        gone: loops of which nothing is left to run.
        extent: of the dimension.
    """
    places: set[int] = set()
    moves = 0
    for index in set(indices):
        if not index.is_linear or index.is_data:
            return 1
        left = index.variables() - gone
        moves = gcd(moves, *(m for v in left for m in _moves(index, v, copies.get(v, 1))))
        steps = [range(0, c * copies.get(str(v), 1), c) for v, c in index.terms]
        if prod(map(len, steps)) > MAX_BANKS:
            return 1
        places |= {index.const + sum(point) for point in product(*steps)}
    most = min(extent, MAX_BANKS)
    for factor in range(len(places), most + 1):
        if moves % factor == 0 and len({p % factor for p in places}) == len(places):
            return extent if factor >= _NEARLY * extent and not moves else factor
    return 1


def _moves(index: Affine, name: str, by: int) -> list[int]:
    """How far a subscript moves when a variable does: a sum of multiples of these, of the first one exactly once.

    ``floor(n / d)`` moves by ``k`` where ``n`` moves by ``k * d``, wherever it is, and else by nobody knows what.
    """
    known, unknown = index.coefficient(name) * by, []
    for atom, c in index.terms:
        if isinstance(atom, FloorDiv):
            inner = _moves(atom.numerator, name, by)
            if any(m % atom.denominator for m in inner):
                unknown.append(c)
            else:
                known += c * (inner[0] // atom.denominator)
                unknown += [c * (m // atom.denominator) for m in inner[1:]]
    return [known, *unknown]


def _span(index: Affine, copies: Mapping[str, int]) -> int:
    """From the first element that the copies of one block touch to the last, these included."""
    ranges = {v: copies.get(v, 1) for v in sorted(index.variables())}
    if index.is_linear or prod(ranges.values()) > MAX_BANKS:
        low, high = index.interval({v: (0, n - 1) for v, n in ranges.items()})
        return high - low + 1
    found = [
        index.evaluate(dict(zip(ranges, values, strict=True)))
        for values in product(*map(range, ranges.values()))
    ]
    return max(found) - min(found) + 1


def common(one: int, other: int, extent: int) -> int:
    """The factor that serves two: a multiple of both. Of a few elements each may have a bank: more are
    dear to choose from where a subscript moves. Where both factors are nearly all elements there are no
    two blocks of either: copies touch them all at once, and each may have a bank, too.
    """
    factor = lcm(one, other)
    whole = extent <= _REGISTERS or min(one, other) >= _NEARLY * extent
    return extent if factor > extent and whole else factor


@dataclass(frozen=True, slots=True)
class Use:
    """An access of an array in a body: its subscripts, the copies of each loop, and the loops that are gone."""

    array: str
    indices: tuple[Affine, ...]
    copies: Mapping[str, int]
    gone: Set[str]


def factors(shape: tuple[int, ...], uses: Iterable[Use], fixed: Mapping[int, int]) -> list[int]:
    """The factors of an array's dimensions that all its accesses ask for, at most `MAX_BANKS` banks in all.

    An array that would take too many has fewer in the dimension that has most: some divisor of its factor, so
    that a bank serves several copies.

    Args:
        shape: of the array.
        uses: its accesses.
        fixed: the factors of dimensions that are given.
    """
    known = list(uses)
    found = [fixed.get(d, 0) or _factor(known, d, extent) for d, extent in enumerate(shape)]
    ours = [d for d in range(len(shape)) if d not in fixed]
    while prod(found) > MAX_BANKS and any(found[d] > 1 for d in ours):
        dim = max(ours, key=lambda d: (found[d], d))
        found[dim] = _next(found[dim])
    return found


def _factor(uses: Iterable[Use], dim: int, extent: int) -> int:
    """The factor of one dimension. Where no factor serves two accesses it is that of the one that asks for more.

    What moves with a loop that is left needs a multiple of its own factor. Elements that are the same in all
    iterations lie apart in any number of banks that is no less than they need.
    """
    moving = still = 1
    for use in uses:
        index = use.indices[dim]
        own = widest(index, use.copies, use.gone, extent)
        if index.variables() <= use.gone:
            still = max(still, own)
        else:
            both = common(moving, own, extent)
            moving = both if both <= extent else max(moving, own)
    if still in (1, extent):
        return max(moving, still)
    return min(-(-still // moving), extent // moving) * moving


def _next(factor: int) -> int:
    """The largest divisor of a factor that is less; half of a prime one: two copies share most of its banks."""
    found = next(k for k in range(factor // 2, 0, -1) if factor % k == 0)
    return found if found > 1 or factor == 2 else -(-factor // 2)
