"""Functions of bits as a graph that has each function once.

A literal is twice the number of a node, one more where it is inverted; node 0 is false. Equal
functions of equal bits are one node and constants go as far as they reach, as in synthesis.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from enum import IntEnum

FALSE, TRUE = 0, 1


class Gate(IntEnum):
    """What a node is; a leaf is a bit from elsewhere: a register's, a memory's, a sum's."""

    LEAF = 0
    AND = 1
    XOR = 2
    MUX = 3


class Net:
    """Nodes by number: ``gates`` and ``inputs`` (literals; of a `Gate.MUX` the selector first)."""

    def __init__(self) -> None:
        self.gates: list[Gate] = [Gate.LEAF]
        self.inputs: list[tuple[int, ...]] = [()]
        self._known: dict[tuple[int, ...], int] = {}

    def leaf(self) -> int:
        """A new bit."""
        self.gates.append(Gate.LEAF)
        self.inputs.append(())
        return 2 * (len(self.gates) - 1)

    def leaves(self, count: int) -> list[int]:
        """So many new bits."""
        return [self.leaf() for _ in range(count)]

    def below(self, node: int, known: Container[int]) -> Iterator[int]:
        """A node and what it is made of, inputs first; but what is known, then or by and by."""
        todo = [node]
        while todo:
            top = todo[-1]
            fresh = [bit >> 1 for bit in self.inputs[top] if bit >> 1 not in known]
            if fresh and top not in known:
                todo += fresh
                continue
            todo.pop()
            if top not in known:
                yield top

    def _node(self, gate: Gate, *inputs: int) -> int:
        key = (gate, *inputs)
        found = self._known.get(key)
        if found is None:
            self.gates.append(gate)
            self.inputs.append(inputs)
            found = self._known[key] = 2 * (len(self.gates) - 1)
        return found

    def both(self, a: int, b: int) -> int:
        """AND."""
        if a > b:
            a, b = b, a
        if a == FALSE or a ^ b == 1:
            return FALSE
        if a in (TRUE, b):
            return b
        return self._node(Gate.AND, a, b)

    def either(self, a: int, b: int) -> int:
        """OR."""
        return self.both(a ^ 1, b ^ 1) ^ 1

    def differ(self, a: int, b: int) -> int:
        """XOR."""
        inverted = (a ^ b) & 1
        a, b = sorted((a & ~1, b & ~1))
        if a == b:
            return inverted
        if a == FALSE:
            return b ^ inverted
        return self._node(Gate.XOR, a, b) ^ inverted

    def choose(self, select: int, then: int, other: int) -> int:
        """``select ? then : other``."""
        if select & 1:
            select, then, other = select ^ 1, other, then
        if then == other or select == FALSE:
            return other
        if then in (TRUE, select):
            return self.either(select, other)
        if then in (FALSE, select ^ 1):
            return self.both(select ^ 1, other)
        if other in (FALSE, select):
            return self.both(select, then)
        if other in (TRUE, select ^ 1):
            return self.either(select ^ 1, then)
        if then ^ other == 1:
            return self.differ(select, other)
        inverted = then & 1
        return self._node(Gate.MUX, select, then ^ inverted, other ^ inverted) ^ inverted

    def all_of(self, bits: Sequence[int]) -> int:
        """AND of all, a balanced tree."""
        left = list(dict.fromkeys(bits)) or [TRUE]
        while len(left) > 1:
            pairs = zip(left[::2], left[1::2], strict=False)
            left = [self.both(a, b) for a, b in pairs] + left[len(left) & ~1 :]
        return left[0]

    def any_of(self, bits: Sequence[int]) -> int:
        """OR of all."""
        return self.all_of([bit ^ 1 for bit in bits]) ^ 1
