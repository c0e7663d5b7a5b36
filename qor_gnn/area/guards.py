"""Guards that a loop decides: what compares counters, and selects what is kept of a guarded sum."""

from __future__ import annotations

from collections.abc import Sequence

from dsl.expressions.affine import Affine
from qor_gnn.area.access_places import word
from qor_gnn.area.modules import Leaf
from qor_gnn.area.multiplexers import ADDER
from qor_gnn.area.terms import Sums
from qor_gnn.design.region import Loop
from qor_gnn.schedule.regions import Region

_UNBOUNDED = 64
"""Bits of a counter of which the tool knows no bound."""


def guards(own: Sequence[Leaf], sums: Sums) -> None:
    """Add the comparisons of a function's guards, and what selects behind them.

    Behind the exit of a loop that can end between its copies the tool does not know how large its
    counter is, and compares all of its bits in every copy, each of which keeps its sum of counter and
    copy in a register.
    """
    copied: dict[int, int] = {}
    for leaf in own:
        if leaf.body.personality.guards.compared:
            sums.lut_fixed += sum(_bits(leaf, e) + ADDER for e in leaf.body.graph.compared)
            sums.lut_fixed += _kept(leaf)
        found = _unbounded(leaf)
        if found is None:
            continue
        nest, loop = found
        wide = [e for e in leaf.body.graph.compared if loop.iv in e.variables()]
        sums.lut_fixed += sum(_UNBOUNDED - _bits(leaf, e) for e in wide)
        if wide:
            copied[id(nest)] = loop.factor
    sums.ff["before"] += _UNBOUNDED * sum(copied.values())


def _loops(leaf: Leaf) -> list[tuple[Region, Loop]]:
    """The loops around a body and its own, outermost first, each with its nest."""
    return [(nest, loop) for nest in (*leaf.around, leaf.region) for loop in nest.loops]


def _bits(leaf: Leaf, compared: Affine) -> int:
    """Bits of a comparison: of the widest counter in it."""
    counters = compared.variables()
    trips = [loop.trips.maximum for _, loop in _loops(leaf) if loop.iv in counters]
    return max(trips, default=1).bit_length()


def _kept(leaf: Leaf) -> int:
    """LUTs of selections between a guarded sum and its old value that the register itself takes.

    Those between copies are operations of the body. An element of an array has none: the guard
    enables its store.
    """
    body = leaf.body
    if not leaf.pipelined or not body.registers:
        return 0
    results, conditional = set(body.registers.values()), body.graph.conditional
    memories = [body.addresses.memory(a) for a, c in conditional.items() if c.value in results]
    return sum(word(memory) for memory in memories if memory.in_registers)


def _unbounded(leaf: Leaf) -> tuple[Region, Loop] | None:
    """The loop around a body whose counter has no known bound in it, and its nest.

    It is the innermost one that can end between its copies. Where that is a loop of the body itself
    its own test is a bound.
    """
    if not leaf.body.personality.guards.unbounded_exits:
        return None
    exits = [(nest, loop) for nest, loop in _loops(leaf) if loop.trips.maximum % loop.factor]
    return exits[-1] if exits and exits[-1][0] is not leaf.region else None
