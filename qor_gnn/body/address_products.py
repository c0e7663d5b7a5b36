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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from qor_gnn.body.graph import Graph
from qor_gnn.memory.addresses import Addresses, Terms
from qor_gnn.tools.operators.multipliers import slices
from qor_gnn.tools.policies.indices import Indices

Place = tuple[tuple[int, Terms, int, int], ...]
"""A word of a bank as it is counted so far: of each dimension the words, what moves, the constant and the banks."""

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
class _Product:
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
    needed = {n: tuple(_products(table, a, moving)) for n in nodes if (a := graph.address[n]) >= 0}
    places: dict[tuple[Place, int], set[Place]] = defaultdict(set)
    bits: dict[tuple[Place, int], int] = {}
    for one in {p for products in needed.values() for p in products}:
        places[one.row, one.length].add(one.place)
        bits[one.row, one.length] = one.bits
    fused = {key for key, found in places.items() if len(found) == 1 and digits(key[1]) > 2}
    states = {}
    for n, products in needed.items():
        adds = sum((p.row, p.length) not in fused for p in products) * policy.row_add_states
        wait = adds + sum((p.row, p.length) in fused for p in products) * policy.row_states
        if wait:
            states[n] = wait
    dsp = sum(product_slices(bits[key], key[1], key in fused, policy.row_dsp) for key in places)
    return RowProducts(states, dsp)


def digits(number: int) -> int:
    """Powers of two that add up to a number, or are taken off: as few as there can be (Reitwiesner, 1960)."""
    return (number ^ (3 * number)).bit_count()


def product_slices(bits: int, length: int, fused: bool, row_dsp: int) -> int:
    """DSP slices of a row's number of so many bits times its length; ``fused`` with the one addition behind it."""
    if fused:
        return row_dsp
    factor = length.bit_length()
    return row_dsp * (slices(bits, factor, bits + factor, _WIDE) if digits(length) > 2 else 0)


def _products(table: Addresses, address: int, moving: frozenset[str]) -> Iterator[_Product]:
    """The products of an address, outermost dimension first."""
    shape, memory = table.shape(address), table.memory(address)
    if memory.in_registers:
        return
    row: Place = ()
    moves, rows = False, 1
    for d, split in enumerate(memory.splits):
        words = split.words(memory.shape[d])
        if words == 1:
            continue
        terms = shape.terms[d]
        place = (*row, (words, terms, table.consts[address][d] // split.factor, split.factor))
        if moves and digits(words) > 1:
            yield _Product(row, words, (rows - 1).bit_length(), place)
        moves = moves or any(v in moving for v, _ in terms)
        row, rows = place, rows * words
