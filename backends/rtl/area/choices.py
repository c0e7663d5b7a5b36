"""Multiplexers whose selectors are functions of a few bits choose among few of their words.

A bank's number that is computed from a counter of three bits has at most eight values, whatever the
number of banks; synthesis sees that, as it looks at what the functions come to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from backends.rtl.area.net import Gate, Net
from backends.rtl.area.netlist import Bits
from backends.rtl.ir.expr import Expr
from backends.rtl.ir.nodes import Mux

BITS = 5
"""Of more than so many bits no function is looked at."""


class Choices:
    """Trees of multiplexers over a net."""

    def __init__(self, net: Net) -> None:
        self._net = net
        self._supports: dict[int, frozenset[int] | None] = {}

    def few(self, root: Mux, bits: Callable[[Expr], Bits]) -> Bits | None:
        """What a tree chooses by the bits that its selectors are functions of.

        Args:
            root: The last multiplexer; those right before it belong to the tree.
            bits: Of an expression; of all operands they are known.

        Returns:
            None where that takes no fewer words than the tree has.
        """
        if not isinstance(root.then, Mux) and not isinstance(root.other, Mux):
            return None
        support: frozenset[int] = frozenset()
        muxes = 0
        for mux in _tree(root):
            own = self._support(bits(mux.cond)[0] >> 1)
            if own is None or len(support := support | own) > BITS:
                return None
            muxes += 1
        if 1 << len(support) > muxes:
            return None
        names = sorted(support)
        level = []
        for values in product((0, 1), repeat=len(names)):
            found = dict(zip(names, values, strict=True))
            e: Expr = root
            while isinstance(e, Mux):
                e = e.then if self._value(bits(e.cond)[0], found) else e.other
            level.append(bits(e))
        choose = self._net.choose
        for name in reversed(names):
            pairs = zip(level[1::2], level[::2], strict=True)
            level = [[choose(2 * name, a, b) for a, b in zip(*pair, strict=True)] for pair in pairs]
        return level[0]

    def _support(self, node: int) -> frozenset[int] | None:
        """Leaves that a node depends on; None of too many."""
        net = self._net
        for n in net.below(node, self._supports):
            if net.gates[n] is Gate.LEAF:
                self._supports[n] = frozenset((n,) if n else ())
                continue
            parts = [self._supports[bit >> 1] for bit in net.inputs[n]]
            known = [part for part in parts if part is not None]
            joined = frozenset[int]().union(*known)
            whole = len(known) == len(parts) and len(joined) <= BITS
            self._supports[n] = joined if whole else None
        return self._supports[node]

    def _value(self, bit: int, found: dict[int, int]) -> int:
        """Of a literal, with the values of the leaves; ``found`` keeps those of other nodes."""
        net = self._net
        found[0] = 0
        for n in net.below(bit >> 1, found):
            a, b, *rest = (found[i >> 1] ^ i & 1 for i in net.inputs[n])
            match net.gates[n]:
                case Gate.AND:
                    found[n] = a & b
                case Gate.XOR:
                    found[n] = a ^ b
                case _:
                    found[n] = b if a else rest[0]
        return found[bit >> 1] ^ bit & 1


def _tree(root: Mux) -> Iterator[Mux]:
    todo: list[Expr] = [root]
    while todo:
        e = todo.pop()
        if isinstance(e, Mux):
            yield e
            todo += [e.then, e.other]
