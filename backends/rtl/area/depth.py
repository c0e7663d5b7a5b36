"""How many tables in a row the functions of a netlist need.

Synthesis maps for depth first: the deepest function of a module says how many tables in a row any of
them may be, and where there are fewer it saves area.
"""

from __future__ import annotations

from collections.abc import Iterable

from backends.rtl.area.cover import INPUTS
from backends.rtl.area.net import Gate, Net


def depth(net: Net, ends: Iterable[int]) -> int:
    """The most tables in a row that it cannot do without, or one more: one cut of a node is looked at.

    Args:
        net: Its gates, inputs before what uses them.
        ends: Literals that leave the tables.
    """
    levels: dict[int, int] = {}
    cuts: dict[int, frozenset[int]] = {}
    for node, gate in enumerate(net.gates):
        if gate is Gate.LEAF:
            continue
        direct = frozenset(bit >> 1 for bit in net.inputs[node])
        last = max(levels.get(n, 0) for n in direct)
        late = [n for n in direct if last and levels.get(n, 0) == last]
        merged = direct.difference(late).union(*(cuts[n] for n in late))
        fits = last > 0 and len(merged) <= INPUTS
        levels[node], cuts[node] = (last, merged) if fits else (last + 1, direct)
    return max((levels.get(bit >> 1, 0) for bit in ends), default=0)
