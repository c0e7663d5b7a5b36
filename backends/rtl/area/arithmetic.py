"""Arithmetic on bits as synthesis makes it: carry chains where they are long enough, else tables."""

from __future__ import annotations

from backends.rtl.area.net import FALSE, TRUE
from backends.rtl.area.netlist import Adder, Bits, Comparator, Multiplier, Netlist

SHORT = 4
"""Chains of so many bits become tables (Yosys' ``ccu2c`` mapping)."""


class Arithmetic:
    """Adders, comparisons, shifts and products of one netlist, equal ones shared."""

    def __init__(self, netlist: Netlist) -> None:
        self._netlist, self._net = netlist, netlist.net
        self._known: dict[object, Bits] = {}

    def add(self, lhs: Bits, rhs: Bits, subtract: bool, inner: bool = False) -> Bits:
        """``lhs + rhs`` or ``lhs - rhs`` of one width, modulo that."""
        below = _zeros(rhs)
        passing = lhs[:below]
        if not subtract and _zeros(lhs) > below:
            below = _zeros(lhs)
            passing = rhs[:below]
        if below == len(lhs):
            return passing
        lhs, rhs = lhs[below:], rhs[below:]
        width = min(len(lhs), _significant(lhs, rhs) + 1)
        fill = len(lhs) - width
        none = lhs[width - 1] == rhs[width - 1] == FALSE and not subtract
        total = self._sum(lhs[:width], rhs[:width], passing, subtract, inner)
        return passing + total + [FALSE if none else total[-1]] * fill

    def _sum(self, lhs: Bits, rhs: Bits, below: Bits, subtract: bool, inner: bool) -> Bits:
        if len(lhs) <= SHORT and not inner:
            return self._rippled(lhs, rhs, subtract)
        key = (subtract, inner, tuple(lhs), tuple(rhs))
        if key not in self._known:
            total = self._net.leaves(len(lhs))
            self._netlist.hard.append(Adder(lhs, rhs, subtract, total, below, inner))
            self._known[key] = total
        return self._known[key]

    def _rippled(self, lhs: Bits, rhs: Bits, subtract: bool) -> Bits:
        net, found = self._net, []
        carry = TRUE if subtract else FALSE
        for a, b in zip(lhs, (bit ^ subtract for bit in rhs), strict=True):
            found.append(net.differ(net.differ(a, b), carry))
            carry = net.either(net.both(a, b), net.both(carry, net.either(a, b)))
        return found

    def less(self, lhs: Bits, rhs: Bits, signed: bool, equal: bool) -> int:
        """``lhs < rhs``, or ``<=`` where ``equal``."""
        width = _significant(lhs, rhs)
        lhs, rhs = lhs[:width], rhs[:width]
        if width <= SHORT:
            return self._less(lhs, rhs, signed, equal)
        key = ("less", signed, equal, tuple(lhs), tuple(rhs))
        if key not in self._known:
            result = self._net.leaf()
            self._netlist.hard.append(Comparator(lhs, rhs, signed, equal, result))
            self._known[key] = [result]
        return self._known[key][0]

    def _less(self, lhs: Bits, rhs: Bits, signed: bool, equal: bool) -> int:
        net = self._net
        found = TRUE if equal else FALSE
        for n, (a, b) in enumerate(zip(lhs, rhs, strict=True), 1):
            if signed and n == len(lhs):
                a, b = b, a
            found = net.choose(net.differ(a, b), b, found)
        return found

    def equals(self, lhs: Bits, rhs: Bits) -> int:
        """``lhs == rhs``."""
        net = self._net
        return net.all_of([net.differ(a, b) ^ 1 for a, b in zip(lhs, rhs, strict=True)])

    def shifted(self, bits: Bits, amount: Bits, left: bool, fill: int) -> Bits:
        """By an amount that is not known: a level of multiplexers for each bit of it."""
        net, beyond = self._net, []
        for n, select in enumerate(amount):
            step = 1 << n
            if step >= len(bits):
                beyond.append(select)
                continue
            pad = [fill] * step
            moved = pad + bits[:-step] if left else bits[step:] + pad
            bits = [net.choose(select, a, b) for a, b in zip(moved, bits, strict=True)]
        if beyond:
            gone = net.any_of(beyond)
            bits = [net.choose(gone, fill, b) for b in bits]
        return bits

    def product(self, lhs: Bits, rhs: Bits) -> Bits:
        """Of one width, modulo that; a multiplier has what is left of both without extensions."""
        width = len(lhs)
        for constant, other in ((lhs, rhs), (rhs, lhs)):
            if max(constant) <= TRUE and sum(constant) <= 1:  # 0, or a power of two
                places = constant.index(TRUE) if any(constant) else width
                return [FALSE] * places + other[: width - places]
        (lhs, lhs_signed), (rhs, rhs_signed) = _narrow(lhs), _narrow(rhs)
        if rhs < lhs:
            lhs, lhs_signed, rhs, rhs_signed = rhs, rhs_signed, lhs, lhs_signed
        signed = lhs_signed, rhs_signed
        key = ("product", signed, tuple(lhs), tuple(rhs))
        if key not in self._known:
            found = self._net.leaves(min(width, len(lhs) + len(rhs) + 1))
            self._netlist.hard.append(Multiplier(lhs, rhs, signed, found))
            self._known[key] = found
        found = self._known[key]
        return found[:width] + [found[-1]] * (width - len(found))


def _zeros(bits: Bits) -> int:
    """Low bits that are 0."""
    return next((n for n, bit in enumerate(bits) if bit != FALSE), len(bits))


def _significant(lhs: Bits, rhs: Bits) -> int:
    """Bits after which both only repeat themselves."""
    width = len(lhs)
    while width > 1 and lhs[width - 1] == lhs[width - 2] and rhs[width - 1] == rhs[width - 2]:
        width -= 1
    return width


def _narrow(bits: Bits) -> tuple[Bits, bool]:
    """Without its extension, and whether the top bit of that is a sign."""
    width = _significant(bits, bits)
    if bits[width - 1] == FALSE:
        return bits[: max(1, width - 1)], False
    return bits[:width], True
