"""Sums of more than two words: full adders bring them down to two, which one carry chain adds.

What is joined into one sum is known from its words (`joins`). Here it is made bit by bit as Yosys'
``maccmap`` does it: constants first, three words become two as long as there are three, and what
makes an inverted word the negative one goes into carries that are free.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from backends.rtl.area.net import FALSE, TRUE, Net
from backends.rtl.area.netlist import Bits


class Open(NamedTuple):
    """A bit of a sum that another one takes: bits of its operands, and whether it is a difference."""

    lhs: int
    rhs: int
    subtract: bool


@dataclass(slots=True)
class Summands:
    """Words that are added, and what their constants come to.

    Attributes:
        open: the bits of sums that have no carry chain, by node.
        words: literals of each.
        constant: of those that have no other bits.
        inverted: how many words are inverted, to which 1 has to be added.
    """

    open: dict[int, Open]
    words: list[Bits] = field(default_factory=list)
    constant: int = 0
    inverted: int = 0

    def add(self, bits: Bits, negative: bool) -> None:
        """One more word, or what it is the sum of; bits that pass by a sum are its first operand's."""
        found = [self.open.get(bit >> 1) for bit in bits]
        subtract = next((one.subtract for one in found if one), None)
        if subtract is not None:
            pairs = list(zip(bits, found, strict=True))
            self.add([one.lhs if one else bit for bit, one in pairs], negative)
            self.add([one.rhs if one else FALSE for bit, one in pairs], negative ^ subtract)
        elif max(bits) <= TRUE:
            value = sum(bit << n for n, bit in enumerate(bits))
            self.constant += -value if negative else value
        else:
            self.words.append([bit ^ negative for bit in bits])
            self.inverted += negative

    def columns(self, width: int) -> list[Bits]:
        """Literals by their weight from 1 on."""
        found: list[Bits] = [[] for _ in range(width)]
        for word in self.words:
            for weight, bit in enumerate(word[:width]):
                n = weight
                while n < width and bit > TRUE and bit in found[n]:  # twice a bit
                    found[n].remove(bit)
                    n += 1
                if n < width and bit != FALSE:
                    found[n].append(bit)
        for n, column in enumerate(found):
            if self.constant >> n & 1:
                column.append(TRUE)
            column.sort()
        return found


def reduced(net: Net, summands: Summands, width: int) -> tuple[Bits, Bits, bool]:
    """Two words that add up to the same, and whether the second is to be subtracted."""
    columns = summands.columns(width)
    ones = summands.inverted
    if ones >= (height := max(2, *map(len, columns))):
        # One carry in each full adder, and that of the chain.
        summands.constant += ones - (height - 1)
        ones, columns = height - 1, summands.columns(width)
        height = max(2, *map(len, columns))
    words = [[c[n] if n < len(c) else FALSE for c in columns] for n in range(height)]
    ones -= (subtract := ones > 0)
    while len(words) > 2:
        left: list[Bits] = []
        for n in range(0, len(words) - 2, 3):
            bits = list(zip(*words[n : n + 3], strict=True))
            first = TRUE if ones > 0 else FALSE
            ones -= 1
            left += [
                [_total(net, *b) for b in bits],
                [first, *(_carry(net, *b) for b in bits[:-1])],
            ]
        words = left + words[len(words) - len(words) % 3 :]
    return words[0], [bit ^ subtract for bit in words[1]], subtract


def _total(net: Net, a: int, b: int, c: int) -> int:
    return net.differ(net.differ(a, b), c)


def _carry(net: Net, a: int, b: int, c: int) -> int:
    return net.either(net.both(a, b), net.both(c, net.either(a, b)))


def length(lhs: Bits, rhs: Bits) -> int:
    """Bits of the carry chain of a sum: up to one more than there is anything but constants in."""
    pairs = enumerate(zip(lhs, rhs, strict=True), 2)
    return min(len(lhs), max((n for n, (a, b) in pairs if max(a, b) > TRUE), default=0))
