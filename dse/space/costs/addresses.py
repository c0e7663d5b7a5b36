"""Multipliers that addresses need: a row's number times its length, in nests that flatten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

from dse.space.costs.cost import pipelined
from dse.space.memory.banks import Demand
from dse.space.nests.nest import Order, Use, Vector
from qor_gnn.body.address_products import RowProduct, digits, priced, products_of
from qor_gnn.tools.policies.indices import Indices

_PLACES = 256  # copies of an access that are told apart, the first ones
_SEVERAL = 2  # columns that are added to a product, which are as good as any more


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
    needed: list[tuple[RowProduct, ...]] = []
    for alike in in_step(uses):
        use = alike[0]
        factors = tuple(banks.get((use.array, d), 1) for d in range(len(use.shape)))
        needed += row_products(alike, copies, moving, factors)
    return priced_products(needed, policy)


def in_step(uses: Iterable[Use]) -> tuple[tuple[Use, ...], ...]:
    """Accesses of one array whose subscripts differ in their constants alone, as those of a stencil."""
    found: dict[object, list[Use]] = {}
    for use in uses:
        key = use.array, tuple(index.terms for index in use.indices)
        found.setdefault(key, []).append(use)
    return tuple(map(tuple, found.values()))


def priced_products(needed: Sequence[tuple[RowProduct, ...]], policy: Indices) -> Products:
    """What some row products take; each is there once."""
    if not needed:
        return Products()
    states, slices = priced(needed, policy)
    return Products(slices, max(states, default=0))


def row_products(
    alike: Sequence[Use], copies: Mapping[str, int], moving: frozenset[str], factors: Sequence[int]
) -> list[tuple[RowProduct, ...]]:
    """The products that the addresses of accesses need, of each of their copies: once, where several need the same.

    Args:
        alike: accesses as `in_step` has them.
        copies: of each loop.
        moving: the loops of the pipeline.
        factors: the banks of each dimension.
    """
    use = alike[0]
    words = [-(-n // f) for n, f in zip(use.shape, factors, strict=True)]
    if not any(digits(n) > 1 for n in words[1:]):
        return []  # registers, or rows of which wires make the addresses
    terms = [
        tuple((str(v), c * copies.get(str(v), 1)) for v, c in index.terms) for index in use.indices
    ]
    dims = zip(words, terms, [0] * len(words), factors, strict=True)
    columns = [len(found.place) for found in products_of(dims, moving)]
    if not columns:
        return []  # which copy it is changes nothing of that
    last = _last(words, columns[-1])
    places = dict.fromkeys(p for each in alike for p in _consts(each, copies, factors, last))
    return [
        tuple(products_of(zip(words, terms, consts, factors, strict=True), moving))
        for consts in places
    ]


def _last(words: Sequence[int], columns: int) -> int:
    """The dimension of the last of so many columns that are added to a product: those of one word have none."""
    return [d for d, n in enumerate(words) if n > 1][columns - 1]


def _consts(
    use: Use, copies: Mapping[str, int], factors: Sequence[int], last: int
) -> Iterable[tuple[int, ...]]:
    """The constant of each subscript, in words of a bank, of the copies of an access: each once.

    Columns are added to products up to dimension ``last``. Of that one it matters only whether there are several;
    those behind it are in no product.
    """
    own = [
        [(copies[str(v)], c) for v, c in index.terms if copies.get(str(v), 1) > 1]
        for index in use.indices
    ]
    names = [str(v) for index in use.indices for v, _ in index.terms if copies.get(str(v), 1) > 1]
    if len(set(names)) == len(names) and prod(copies[name] for name in names) <= _PLACES:
        # No two subscripts have a loop in common: all of one go with all of the other.
        each = []
        for index, loops, factor in zip(use.indices, own, factors, strict=True):
            starts = {index.const}
            for count, c in loops:
                starts = {start + c * n for start in starts for n in range(count)}
            each.append(sorted({start // factor for start in starts}))
        return product(*each[:last], each[last][:_SEVERAL], *(own[:1] for own in each[last + 1 :]))
    return dict.fromkeys(
        tuple(
            (index.const + sum(c * at.get(str(v), 0) for v, c in index.terms)) // factor
            for index, factor in zip(use.indices, factors, strict=True)
        )
        for at in _copied(use, copies)
    )


def _copied(use: Use, copies: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Which copy of each loop an access is in."""
    names = dict.fromkeys(str(v) for index in use.indices for v, _ in index.terms)
    loops = [name for name in names if copies.get(name, 1) > 1]
    for own in islice(product(*(range(copies[name]) for name in loops)), _PLACES):
        yield dict(zip(loops, own, strict=True))
