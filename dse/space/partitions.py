"""Partition steps that satisfy all nests: of the factors that they ask for, the least common
multiple, within the banks that an array may have.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm, prod

from dse.bounds import MAX_BANKS
from dse.space.banks import Demand
from dsl.program import Program
from dsl.steps import Partition


def together(demands: Iterable[Demand]) -> Demand:
    """The factors that satisfy all nests."""
    found: Demand = {}
    for one in demands:
        for key, factor in one.items():
            found[key] = lcm(found.get(key, 1), factor)
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
