"""Tables of four inputs over the functions of a netlist.

A function takes those of its inputs into its table that nothing else uses, as long as four bits go
in. Synthesis does better in places and spends more for speed in others; the cost of each kind of
table is therefore fitted to what was measured (`backends.rtl.area.costs`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from backends.rtl.area.needed import Needed
from backends.rtl.area.net import Gate, Net

INPUTS = 4


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the function at its output, nodes that go in; ``chained``: only one of its kind uses it."""

    gate: Gate
    inputs: frozenset[int]
    chained: bool


def cover(net: Net, used: Needed) -> dict[int, Table]:
    """Tables by the node at their output, inputs before what uses them."""
    nodes = sorted(n for n in used.nodes if net.gates[n] is not Gate.LEAF)
    uses = Counter(bit >> 1 for n in nodes for bit in net.inputs[n])
    leaving = [bit >> 1 for bit in used.ends()]
    uses.update(leaving)
    ends = set(leaving)
    cuts: dict[int, frozenset[int]] = {}
    for node in nodes:
        cuts[node] = _cut(net, cuts, uses, ends, node)
    roots = {node for node in ends if node in cuts}
    todo = list(roots)
    while todo:
        fresh = [n for n in cuts[todo.pop()] if n in cuts and n not in roots]
        roots.update(fresh)
        todo += fresh
    chained = set(_chained(net, cuts, uses, roots))
    return {n: Table(net.gates[n], cuts[n], n in chained) for n in sorted(roots)}


def _cut(
    net: Net, cuts: dict[int, frozenset[int]], uses: Counter[int], ends: set[int], node: int
) -> frozenset[int]:
    """The bits that go into the table of a node."""
    found = frozenset(bit >> 1 for bit in net.inputs[node])
    inner = sorted((n for n in found if n in cuts), key=lambda n: (len(cuts[n]), n))
    for n in inner:
        wider = (found - {n}) | cuts[n]
        # What others use as well is copied where that makes no table wider.
        if len(wider) <= (INPUTS if uses[n] == 1 else len(found) if n not in ends else 0):
            found = wider
    return found


def _chained(
    net: Net, cuts: dict[int, frozenset[int]], uses: Counter[int], roots: set[int]
) -> Iterator[int]:
    readers = Counter(n for root in roots for n in cuts[root])
    for root in roots:
        for n in cuts[root]:
            if n in roots and net.gates[n] is net.gates[root] and readers[n] == uses[n] == 1:
                yield n
