"""Multipliers that addresses need: a row's number times its length, in nests that flatten."""

from __future__ import annotations

from math import ceil

from dse.space.banks import Demand
from dse.space.cost import pipelined
from dse.space.nest import Order, Vector


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
    moving = pipelined(order, vector)
    if len(moving) < 2:
        return 0
    copies = {loop.name: u for loop, u in zip(order.loops, vector, strict=True)}
    found: set[tuple[tuple[tuple[str, int], ...], int]] = set()
    for use in order.uses:
        if use.array in registers:
            continue
        words = 1
        for d in reversed(range(len(use.shape))):
            terms = tuple(
                (str(v), c * copies[str(v)]) for v, c in use.indices[d].terms if v in moving
            )
            if terms and words & (words - 1):
                found.add((terms, words))
            words *= ceil(use.shape[d] / banks.get((use.array, d), 1))
    return len(found)
