"""Partition steps that satisfy all nests: of the factors that they ask for, the least common
multiple, within the banks that an array may have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import lcm, prod

from dse.bounds import MAX_BANKS
from dse.space.banks import Demand, demand, interval_with, port_interval
from dse.space.nest import Order, Vector
from dsl.program import Program
from dsl.steps import Partition


def together(demands: Iterable[Demand]) -> Demand:
    """The factors that satisfy all nests."""
    found: Demand = {}
    for one in demands:
        for key, factor in one.items():
            found[key] = lcm(found.get(key, 1), factor)
    return found


def solved(program: Program, parts: Sequence[tuple[Order, Vector]]) -> tuple[Partition, ...] | None:
    """The steps for the nests of a design; None where they take more banks than there may be.

    An array that would take too many has half the banks in some dimensions where that costs nobody
    a cycle: a bank with two ports serves two copies.
    """
    wanted = together(demand(order, vector) for order, vector in parts)
    wanted = relaxed(program, parts, wanted)
    return partitions(program, wanted)


def relaxed(program: Program, parts: Sequence[tuple[Order, Vector]], wanted: Demand) -> Demand:
    """The factors, halved where an array takes too many banks and no nest gets slower by it."""
    found = dict(wanted)
    for array in program.arrays:
        factors = {d: wanted.get((array.name, d), 1) for d in range(len(array.shape))}
        banks = prod(factors.values())
        if not MAX_BANKS < banks <= MAX_BANKS << len(factors):
            continue
        even = [d for d, f in factors.items() if f % 2 == 0]
        for count in range(1, len(even) + 1):
            if banks >> count > MAX_BANKS:
                continue
            for halved in combinations(even, count):
                fewer = {d: f // 2 if d in halved else f for d, f in factors.items()}
                if all(
                    interval_with(order, vector, array.name, fewer) <= port_interval(order, vector)
                    for order, vector in parts
                ):
                    found.update({(array.name, d): f for d, f in fewer.items()})
                    break
            else:
                continue
            break
    return found


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
