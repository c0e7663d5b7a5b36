"""Guards that a loop decides: what compares counters, and how wide it is."""

from __future__ import annotations

from collections.abc import Sequence

from qor_gnn.region import Loop
from qor_gnn.regions import Region
from qor_gnn.resource_leaves import Leaf
from qor_gnn.resource_terms import Sums

_UNBOUNDED = 64
"""Bits of a counter of which the tool knows no bound."""


def wide_guards(own: Sequence[Leaf], sums: Sums) -> None:
    """Comparisons with the counter of a loop that can end between its copies.

    Behind the exit the tool does not know how large the counter is, and compares all of its bits in
    every copy, each of which keeps its sum of counter and copy in a register.
    """
    copied: dict[int, int] = {}
    for leaf in own:
        found = _unbounded(leaf)
        if found is None:
            continue
        nest, loop = found
        guards = [e for e in leaf.body.graph.compared if loop.iv in e.variables()]
        sums.lut_fixed += len(guards) * (_UNBOUNDED - loop.trips.maximum.bit_length())
        if guards:
            copied[id(nest)] = loop.factor
    sums.ff["before"] += _UNBOUNDED * sum(copied.values())


def _unbounded(leaf: Leaf) -> tuple[Region, Loop] | None:
    """The loop around a body whose counter has no known bound in it, and its nest.

    It is the innermost one that can end between its copies. Where that is a loop of the body itself
    its own test is a bound.
    """
    if not leaf.body.personality.rules.exits_unbounded or any(map(_exits, leaf.region.loops)):
        return None
    around = [(nest, loop) for nest in leaf.around for loop in nest.loops if _exits(loop)]
    return around[-1] if around else None


def _exits(loop: Loop) -> bool:
    return loop.trips.maximum % loop.factor > 0
