"""Multipliers that addresses need: a row's number times its length, in nests that flatten."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import ceil, prod
from typing import NamedTuple

from dse.space.costs.cost import pipelined
from dse.space.memory.banks import Demand
from dse.space.nests.nest import Order, Use, Vector
from qor_gnn.body.address_products import digits, product_slices
from qor_gnn.tools.policies.indices import Indices

_PLACES = 256  # copies of an access that are told apart, the first ones

Place = tuple[tuple[int, tuple[tuple[str, int], ...], int, int], ...]
"""A word of a bank as it is counted so far: of each dimension the words, what moves, the constant and the banks."""


class Products(NamedTuple):
    """DSP slices of a nest's addresses, and the states that the slowest of them takes."""

    slices: int = 0
    states: int = 0


def address_products(
    order: Order, vector: Vector, banks: Demand, registers: frozenset[str], policy: Indices
) -> int:
    """DSP slices of a nest's addresses.

    In a flattened nest no loop steps through the rows evenly, so that a row's number is multiplied
    by its length (`qor_gnn.body.address_products`). Innermost loops by themselves need none.

    Args:
        order: of the nest.
        vector: copies of each loop.
        banks: the factor of each dimension that is partitioned.
        registers: arrays without addresses.
        policy: what a product takes.
    """
    copies = {loop.name: u for loop, u in zip(order.loops, vector, strict=True)}
    kept = tuple(use for use in order.uses if use.array not in registers)
    return products(kept, copies, pipelined(order, vector), banks, policy).slices


def products(
    uses: Iterable[Use],
    copies: Mapping[str, int],
    moving: frozenset[str],
    banks: Demand,
    policy: Indices,
) -> Products:
    """As `address_products`, of accesses in a pipeline of some loops.

    Args:
        uses: the accesses.
        copies: of each loop.
        moving: the loops of the pipeline.
        banks: the factor of each dimension that is partitioned.
        policy: what a product takes.
    """
    if len(moving) < 2:
        return Products()
    places: dict[tuple[Place, int], set[Place]] = defaultdict(set)
    bits: dict[tuple[Place, int], int] = {}
    needed = []
    for use in uses:
        factors = [banks.get((use.array, d), 1) for d in range(len(use.shape))]
        if all(f >= n for f, n in zip(factors, use.shape, strict=True)):
            continue  # registers
        for own in _copied(use, copies):
            keys = []
            for row, length, place in _steps(use, own, copies, moving, factors):
                places[row, length].add(place)
                bits[row, length] = (prod(words for words, *_ in row) - 1).bit_length()
                keys.append((row, length))
            needed.append(keys)
    fused = {key for key, found in places.items() if len(found) == 1 and digits(key[1]) > 2}
    each = (
        sum(policy.row_states if k in fused else policy.row_add_states for k in ks) for ks in needed
    )
    slices = sum(product_slices(bits[k], k[1], k in fused, policy.row_dsp) for k in places)
    return Products(slices, max(each, default=0))


def _copied(use: Use, copies: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Which copy of each loop an access is in."""
    names = dict.fromkeys(str(v) for index in use.indices for v, _ in index.terms)
    loops = [name for name in names if copies.get(name, 1) > 1]
    for n, own in enumerate(product(*(range(copies[name]) for name in loops))):
        if n == _PLACES:
            return
        yield dict(zip(loops, own, strict=True))


def _steps(
    use: Use,
    own: Mapping[str, int],
    copies: Mapping[str, int],
    moving: frozenset[str],
    factors: list[int],
) -> Iterator[tuple[Place, int, Place]]:
    """The products of a copy of an access: the row's number, its length, and the place."""
    row: Place = ()
    moves = False
    for index, extent, factor in zip(use.indices, use.shape, factors, strict=True):
        words = ceil(extent / factor)
        if words == 1:
            continue
        terms = tuple((str(v), c * copies.get(str(v), 1)) for v, c in index.terms)
        start = index.const + sum(c * own.get(str(v), 0) for v, c in index.terms)
        place = (*row, (words, terms, start // factor, factor))
        if moves and digits(words) > 1:
            yield row, words, place
        moves = moves or any(v in moving for v, _ in terms)
        row = place
