"""Stores of copies that a tool makes after it has split arrays (`Banks.splits_first`).

The bank of each is the remainder of its own division. Where there are more copies than banks two of them are of one
bank, and the tool does not compare which: they are made one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import prod

from qor_gnn.body.graph import Graph


def in_turn(graph: Graph, stores: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Pairs of stores of which the second follows the first.

    Args:
        graph: with its operations.
        stores: the ones of an iteration, in program order.
    """
    table = graph.addresses
    if not table.unplaced:
        return
    several: dict[int, list[int]] = defaultdict(list)
    for n in stores:
        if graph.address[n] in table.unplaced:
            several[table.shape(graph.address[n]).memory].append(n)
    for memory, own in several.items():
        splits = table.memories[memory].splits
        divided = {d for n in own for d in table.unplaced[graph.address[n]]}
        if len(own) > prod(splits[d].factor for d in divided):
            yield from pairwise(own)
