"""Products of rows' numbers with their lengths that addresses of a flattened nest need."""

from __future__ import annotations

from collections.abc import Sequence

from qor_gnn.body.graph import Graph
from qor_gnn.memory.addresses import Product, address_products_of


def address_products(
    graph: Graph, nodes: Sequence[int], moving: frozenset[str]
) -> dict[int, frozenset[Product]]:
    """The accesses whose addresses need products, and which.

    In a flattened nest no counter steps evenly, so that a row's number times its length is computed
    anew in each iteration, unless the length is a power of two.
    """
    table = graph.addresses
    by_shape: dict[int, frozenset[Product]] = {}
    found = {}
    for n in nodes:
        if graph.address[n] < 0:
            continue
        shape = table.shape_of[graph.address[n]]
        if shape not in by_shape:
            by_shape[shape] = address_products_of(table, shape, moving)
        if by_shape[shape]:
            found[n] = by_shape[shape]
    return found
