"""Multiplexers whose selectors are functions of a few bits choose among few of their words.

A bank's number that is computed from a counter of three bits has at most eight values, whatever the
number of banks; synthesis sees that, as it looks at what the functions come to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from backends.rtl.area.net import Gate, Net
from backends.rtl.area.netlist import Bits
from backends.rtl.ir.expr import Expr, Mux

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
        muxes = list(_tree(root))
        support: frozenset[int] = frozenset()
        for mux in muxes:
            own = self._support(bits(mux.cond)[0] >> 1)
            if own is None or len(support := support | own) > BITS:
                return None
        if 1 << len(support) > len(muxes):
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
        todo = [node]
        while todo:
            top = todo[-1]
            below = [bit >> 1 for bit in self._net.inputs[top]]
            fresh = [n for n in below if n not in self._supports]
            if fresh and top not in self._supports:
                todo += fresh
                continue
            todo.pop()
            if self._net.gates[top] is Gate.LEAF:
                self._supports[top] = frozenset((top,) if top else ())
                continue
            parts = [self._supports[n] for n in below]
            known = [part for part in parts if part is not None]
            joined = frozenset[int]().union(*known)
            whole = len(known) == len(parts) and len(joined) <= BITS
            self._supports[top] = joined if whole else None
        return self._supports[node]

    def _value(self, bit: int, found: dict[int, int]) -> int:
        """Of a literal, with the values of the leaves; ``found`` keeps those of other nodes."""
        net, todo = self._net, [bit >> 1]
        found[0] = 0
        while todo:
            top = todo[-1]
            fresh = [b >> 1 for b in net.inputs[top] if b >> 1 not in found]
            if fresh and top not in found:
                todo += fresh
                continue
            todo.pop()
            if top not in found:
                a, b, *rest = (found[i >> 1] ^ i & 1 for i in net.inputs[top])
                match net.gates[top]:
                    case Gate.AND:
                        found[top] = a & b
                    case Gate.XOR:
                        found[top] = a ^ b
                    case _:
                        found[top] = b if a else rest[0]
        return found[bit >> 1] ^ bit & 1


def _tree(root: Mux) -> Iterator[Mux]:
    todo: list[Expr] = [root]
    while todo:
        e = todo.pop()
        if isinstance(e, Mux):
            yield e
            todo += [e.then, e.other]
