"""Products of rows' numbers with their lengths that addresses of a flattened nest need.

The place of ``A[i][j]`` with rows of n words is ``i * n + j``, of three dimensions ``(i * m + j) * n + k``. In a
flattened nest no counter steps evenly, so that a product is computed anew in each iteration. What it is made of
(docs/lab/schedule.md, Addresses of rows):

- n a power of two: wires.
- n a sum or difference of two powers of two (80, 60, 15): an addition of two shifted copies.
- another n, and the product is added to once, as ``i - 1`` in a stencil: a multiplication and an addition in one DSP slice.
- another n, and several columns are added to the product, as ``j - 1``, ``j`` and ``j + 1`` are: a product as of data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from qor_gnn.body.graph import Graph
from qor_gnn.memory.addresses import Addresses, Terms
from qor_gnn.tools.operators.multipliers import slices
from qor_gnn.tools.policies.indices import Indices

Dimension = tuple[int, Terms, int, int]
"""Of a subscript the words of a bank along it, what moves, the constant in words and the banks."""

Place = tuple[Dimension, ...]
"""A word of a bank as it is counted so far."""

_WIDE = 25  # bits of the longer factor of a DSP slice: of the smallest one, which no row's number reaches


@dataclass(frozen=True, slots=True)
class RowProducts:
    """What the addresses of a body take.

    Attributes:
        states: of each access that waits for its address, until it is there.
        slices: DSP slices of all of them.
    """

    states: dict[int, int] = field(default_factory=dict)
    slices: int = 0


@dataclass(frozen=True, slots=True)
class RowProduct:
    """A row's number, ``bits`` long, times its length, and the place in the bank that adds a column to it."""

    row: Place
    length: int
    bits: int
    place: Place


def row_products(
    graph: Graph, nodes: Sequence[int], moving: frozenset[str], policy: Indices
) -> RowProducts:
    """The products that addresses of a flattened nest need.

    Args:
        graph: the body's.
        nodes: its operations.
        moving: the counters of the nest.
        policy: what a product takes.
    """
    table = graph.addresses
    accesses = [n for n in nodes if graph.address[n] >= 0]
    needed = [tuple(_products(table, graph.address[n], moving)) for n in accesses]
    each, dsp = priced(needed, policy)
    return RowProducts({n: states for n, states in zip(accesses, each, strict=True) if states}, dsp)


def priced(needed: Sequence[Sequence[RowProduct]], policy: Indices) -> tuple[list[int], int]:
    """States until the address of each access is there, and DSP slices of all; a product that several need is there once.

    Args:
        needed: the products of each access.
        policy: what a product takes.
    """
    places: dict[tuple[Place, int], set[Place]] = defaultdict(set)
    bits: dict[tuple[Place, int], int] = {}
    for one in {product for products in needed for product in products}:
        places[one.row, one.length].add(one.place)
        bits[one.row, one.length] = one.bits
    fused = {key for key, found in places.items() if len(found) == 1 and digits(key[1]) > 2}
    states = [
        sum(
            policy.row_states if (p.row, p.length) in fused else policy.row_add_states
            for p in products
        )
        for products in needed
    ]
    dsp = sum(product_slices(bits[key], key[1], key in fused, policy.row_dsp) for key in places)
    return states, dsp


def digits(number: int) -> int:
    """Powers of two that add up to a number, or are taken off: as few as there can be (Reitwiesner, 1960)."""
    return (number ^ (3 * number)).bit_count()


def product_slices(bits: int, length: int, fused: bool, row_dsp: int) -> int:
    """DSP slices of a row's number of so many bits times its length; ``fused`` with the one addition behind it."""
    if fused:
        return row_dsp
    factor = length.bit_length()
    return row_dsp * (slices(bits, factor, bits + factor, _WIDE) if digits(length) > 2 else 0)


def _products(table: Addresses, address: int, moving: frozenset[str]) -> Iterator[RowProduct]:
    """The products of an address, outermost dimension first."""
    shape, memory = table.shape(address), table.memory(address)
    if memory.in_registers:
        return
    consts = table.consts[address]
    dims = zip(memory.splits, memory.shape, shape.terms, consts, strict=True)
    yield from products_of(
        ((s.words(n), terms, c // s.factor, s.factor) for s, n, terms, c in dims), moving
    )


def products_of(dims: Iterable[Dimension], moving: frozenset[str]) -> Iterator[RowProduct]:
    """The products that an element's place takes, outermost dimension first.

    Args:
        dims: its subscripts.
        moving: the counters of the nest.
    """
    row: Place = ()
    moves, rows = False, 1
    for words, terms, const, factor in dims:
        if words == 1:
            continue
        place = (*row, (words, terms, const, factor))
        if moves and digits(words) > 1:
            yield RowProduct(row, words, (rows - 1).bit_length(), place)
        moves = moves or any(v in moving for v, _ in terms)
        row, rows = place, rows * words
