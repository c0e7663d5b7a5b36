"""Multipliers that addresses need: a row's number times its length, in nests that flatten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil

from dse.space.costs.cost import pipelined
from dse.space.memory.banks import Demand
from dse.space.nests.nest import Order, Use, Vector


def address_products(order: Order, vector: Vector, banks: Demand, registers: frozenset[str]) -> int:
    """How many different products a nest's addresses need.

    In a flattened nest no loop steps through the rows evenly, so that a row's number is multiplied
    by its length, unless that is a power of two. Innermost loops by themselves need none.

    Args:
        order: of the nest.
        vector: copies of each loop.
        banks: the factor of each dimension that is partitioned.
        registers: arrays without addresses.
    """
    copies = {loop.name: u for loop, u in zip(order.loops, vector, strict=True)}
    kept = tuple(use for use in order.uses if use.array not in registers)
    return products(kept, copies, pipelined(order, vector), banks)


def products(
    uses: Iterable[Use], copies: Mapping[str, int], moving: frozenset[str], banks: Demand
) -> int:
    """As `address_products`, of accesses in a pipeline of some loops.

    Args:
        uses: the accesses.
        copies: of each loop.
        moving: the loops of the pipeline.
        banks: the factor of each dimension that is partitioned.
    """
    if len(moving) < 2:
        return 0
    found: set[tuple[tuple[tuple[str, int], ...], int]] = set()
    for use in uses:
        factors = [banks.get((use.array, d), 1) for d in range(len(use.shape))]
        if all(f >= n for f, n in zip(factors, use.shape, strict=True)):
            continue  # registers
        words = 1
        for d in reversed(range(len(use.shape))):
            terms = tuple(
                (str(v), c * copies.get(str(v), 1)) for v, c in use.indices[d].terms if v in moving
            )
            if terms and words & (words - 1):
                found.add((terms, words))
            words *= ceil(use.shape[d] / factors[d])
    return len(found)
