"""LUTs to choose the banks of loads: of an array that another nest wants in more banks than a load's own asks for."""

from __future__ import annotations

from functools import lru_cache
from math import prod

from dse.space.banks import Demand, demand
from dse.space.nest import Order, Use, Vector
from qor_gnn.area.multiplexers import multiplexer

_Banks = tuple[tuple[str, int], ...]


def selections(order: Order, vector: Vector, wanted: Demand) -> float:
    """About the LUTs of a nest's multiplexers where its arrays have these banks.

    Each copy of a load has one, of as many inputs as there are banks for each that the nest itself asks for.

    Args:
        order: of the nest.
        vector: copies of each loop.
        wanted: by array and dimension, banks that serve all nests.
    """
    reads = tuple(use for use in order.uses if not use.write)
    arrays = {use.array for use in reads}
    own = _banks(demand(order, vector), arrays)
    every = _banks(wanted, arrays)
    if own == every:
        return 0.0
    copies = tuple((loop.name, u) for loop, u in zip(order.loops, vector, strict=True) if u > 1)
    return _selections(reads, copies, own, every)


def _banks(wanted: Demand, arrays: set[str]) -> _Banks:
    found = dict.fromkeys(sorted(arrays), 1)
    for (array, _), factor in wanted.items():
        if array in found:
            found[array] *= factor
    return tuple(found.items())


@lru_cache(maxsize=100_000)
def _selections(
    reads: tuple[Use, ...], copies: tuple[tuple[str, int], ...], own: _Banks, every: _Banks
) -> float:
    known, there = dict(own), dict(every)
    total = 0.0
    for use in reads:
        inputs = there[use.array] // known[use.array]
        moving = {v for index in use.indices for v in index.variables()}
        total += prod(u for name, u in copies if name in moving) * multiplexer(inputs)
    return total
