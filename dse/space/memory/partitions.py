"""Partition steps that satisfy all nests: of the factors that they ask for, the least common
multiple, within the banks that an array may have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product
from math import gcd, lcm, prod

from dse.bounds.bounds import MAX_BANKS
from dse.space.memory.banks import Demand, demand, interval_with, port_interval
from dse.space.nests.nest import Order, Vector
from dse.space.start import START, Start
from dsl.programs.program import Array, Program
from dsl.schedules.steps import Partition
from polyhedral.banks.wanted import common

NO_PARTITION = "no partition of the arrays serves the factors of all nests"
"""Why there is no schedule of a point, where `partitions` finds none."""


def together(program: Program, demands: Iterable[Demand]) -> Demand:
    """The factors that satisfy all nests."""
    found: Demand = {}
    for one in demands:
        for key, factor in one.items():
            extent = program.array(key[0]).shape[key[1]]
            found[key] = common(found.get(key, 1), factor, extent)
    return found


def searched(wanted: Demand, start: Start) -> Demand:
    """The factors of arrays whose banks no schedule says."""
    placed = start.placed
    return {k: f for k, f in wanted.items() if k[0] not in placed} if placed else wanted


def within(program: Program, wanted: Demand, start: Start) -> Demand:
    """The factors, those that a schedule says in the place of those that its nests ask for."""
    found = {**searched(wanted, start), **start.banks(program)} if start.placed else wanted
    return widened(program, found, start)


def widened(program: Program, wanted: Demand, start: Start) -> Demand:
    """The factors with banks enough for the words of packed arguments to be copied one in a cycle, as far as that
    goes together with what the nests ask for; else in as few cycles as it does.
    """
    found = dict(wanted)
    for (array, d), lanes in start.lanes(program).items():
        if array not in start.placed:
            shape = program.array(array).shape
            factors = tuple([wanted.get((array, k), 1) for k in range(len(shape))])
            factor = _widened(shape[d], factors, d, lanes, start.at_once)
            if factor is not None:
                found[array, d] = factor
    return found


@lru_cache(maxsize=65536)
def _widened(extent: int, factors: tuple[int, ...], d: int, lanes: int, ports: int) -> int | None:
    """The factor of the last dimension of an array that is copied in words; None where it stays as it is wanted: a plan
    asks for the same ones again and again.
    """
    own, others = factors[d], prod(factors[:d]) * prod(factors[d + 1 :])
    if extent - lanes < own and extent * others <= MAX_BANKS:
        return extent  # all of a row at once, and its padding
    at_once = lanes // ports
    while at_once > 1 and own < extent:
        factor = lcm(own, at_once)
        if factor <= extent and factor * others <= MAX_BANKS:
            return factor
        at_once //= 2
    return None


def word_intervals(program: Program, wanted: Demand, start: Start) -> dict[str, int]:
    """Cycles from a word to the next of each array that is copied in words, in the banks that nests ask for: more than
    one where these and those of the lanes are too many together.
    """
    lanes = start.lanes(program)
    if not lanes:
        return {}
    banks = widened(program, wanted, start)
    found = {}
    for (array, d), count in lanes.items():
        at_once, own = max(1, count // start.at_once), banks.get((array, d), 1)
        whole = own == program.array(array).shape[d]
        found[array] = 1 if whole else at_once // gcd(own, at_once)
    return found


def solved(
    program: Program,
    parts: Sequence[tuple[Order, Vector]],
    asked: Sequence[int] = (),
    start: Start = START,
) -> tuple[Partition, ...] | None:
    """The steps for the nests of a design; None where they take more banks than there may be.

    An array that would take too many has half the banks in some dimensions where that costs nobody
    a cycle: a bank with two ports serves two copies. A nest that is only asked to start an iteration
    every few cycles (``asked``, for each nest) leaves its banks so many cycles. Arrays whose banks the
    ``start`` of the search says have no step here.
    """
    wanted = together(program, (demand(order, vector) for order, vector in parts))
    wanted = relaxed(program, parts, searched(wanted, start), asked)
    return partitions(program, widened(program, wanted, start))


def relaxed(
    program: Program,
    parts: Sequence[tuple[Order, Vector]],
    wanted: Demand,
    asked: Sequence[int] = (),
) -> Demand:
    """The factors, fewer where an array takes too many banks and no nest gets slower by it."""
    found = dict(wanted)
    rates = asked or [1] * len(parts)
    for array in _over(program, wanted):
        factors = {d: wanted.get((array.name, d), 1) for d in range(len(array.shape))}
        choices = fewer_banks(tuple(factors.values()), divided=max(rates) > 1)
        if not choices:
            continue
        slowed = [
            (order, vector, max(rates[n], port_interval(order, vector)))
            for n, (order, vector) in enumerate(parts)
            if not order.words and any(use.array == array.name for use in order.uses)
        ]
        for fewer in choices:
            if all(interval_with(o, v, array.name, fewer) <= most for o, v, most in slowed):
                found.update({(array.name, d): f for d, f in fewer.items()})
                break
    return found


def _over(program: Program, wanted: Demand) -> list[Array]:
    """The arrays of which the factors make more banks than there may be."""
    banks: dict[str, int] = {}
    for (name, _), factor in wanted.items():
        banks[name] = banks.get(name, 1) * factor
    over = {name for name, count in banks.items() if count > MAX_BANKS}
    return [array for array in program.arrays if array.name in over] if over else []


@lru_cache(maxsize=4096)
def fewer_banks(factors: tuple[int, ...], *, divided: bool) -> tuple[dict[int, int], ...]:
    """Factors of the dimensions of an array, by dimension, that make few enough banks of too many: by halves of some
    dimensions, of few ones first, or (``divided``) by divisors of all, the most banks first.
    """
    each = dict(enumerate(factors))
    return tuple(_divided(each) if divided else _halved(each))


def _halved(factors: Mapping[int, int]) -> Iterator[dict[int, int]]:
    """Few enough banks by halves of some dimensions, of few ones first."""
    banks = prod(factors.values())
    even = [d for d, f in factors.items() if f % 2 == 0]
    for count in range(1, len(even) + 1):
        if banks >> count <= MAX_BANKS:
            for halved in combinations(even, count):
                yield {d: f // 2 if d in halved else f for d, f in factors.items()}


def _divided(factors: Mapping[int, int]) -> Iterator[dict[int, int]]:
    """Few enough banks by divisors of the factors, the most banks first."""
    divisors = [[k for k in range(1, f + 1) if f % k == 0] for f in factors.values()]
    choices = [c for c in product(*divisors) if prod(c) <= MAX_BANKS]
    for choice in sorted(choices, key=lambda c: (-prod(c), c)):
        yield dict(zip(factors, choice, strict=True))


def partitions(program: Program, wanted: Demand) -> tuple[Partition, ...] | None:
    """The steps; None where an array would need more than `MAX_BANKS` banks, or a dimension more
    than it has elements: then the nests' factors do not go together.
    """
    steps: list[Partition] = []
    for array in program.arrays:
        extents = list(enumerate(array.shape))
        found = [wanted.get((array.name, d), 1) for d, _ in extents]
        if prod(found) > MAX_BANKS or any(f > n for f, (_, n) in zip(found, extents, strict=True)):
            return None
        for (dim, extent), factor in zip(extents, found, strict=True):
            if factor == extent and factor > 1:
                steps.append(Partition(array.name, dim, "complete"))
            elif factor > 1:
                steps.append(Partition(array.name, dim, "cyclic", factor))
    return tuple(steps)
