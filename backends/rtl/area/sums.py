"""Adders that synthesis joins: a sum that only another sum takes becomes one of its operands.

Full adders then bring the operands down to two, and one carry chain adds those (Yosys' ``alumacc``).
What it joins by words is known before (`joins`); here is what is left of sums in other modules, and
with bits below that pass by.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from backends.rtl.area.needed import Needed
from backends.rtl.area.net import Gate, Net
from backends.rtl.area.netlist import Adder

_OTHER = 0  # what is no adder


def joined(net: Net, used: Needed) -> set[int]:
    """The `id` of the adders that go into another one."""
    adders = [h for h in used.hard.values() if isinstance(h, Adder)]
    users: dict[int, set[int]] = {bit >> 1: set() for adder in adders for bit in adder.total}

    def note(bits: Iterable[int], user: int) -> None:
        for bit in bits:
            if bit >> 1 in users:
                users[bit >> 1].add(user)

    note(used.outputs, _OTHER)
    for node in used.nodes:
        if net.gates[node] is not Gate.LEAF:
            note(net.inputs[node], _OTHER)
    for hard in used.hard.values():
        note(used.inputs(hard), id(hard) if isinstance(hard, Adder) else _OTHER)
    through = defaultdict(set)  # bits that pass by below another adder belong to its sum
    for adder in adders:
        for bit in adder.below:
            through[bit >> 1].add(id(adder))
    return {id(a) for a in adders if a.inner or _only_user(a, used, users, through)}


def _only_user(
    adder: Adder, used: Needed, users: dict[int, set[int]], through: dict[int, set[int]]
) -> bool:
    takers: set[int] = set()
    for bit in adder.total:
        if bit >> 1 in used.nodes:
            passing = through.get(bit >> 1, set())
            takers |= passing if len(passing) == 1 else users[bit >> 1]
    return len(takers) == 1 and not takers & {_OTHER, id(adder)}


def full_adders(adder: Adder, width: int) -> int:
    """Of an adder that went into another one: bits in which both operands are no constant."""
    pairs = zip(adder.lhs[:width], adder.rhs[:width], strict=True)
    return sum(a > 1 and b > 1 for a, b in pairs)
