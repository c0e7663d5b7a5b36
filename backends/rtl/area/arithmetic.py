"""Arithmetic on bits as synthesis makes it: carry chains where they are long enough, else tables."""

from __future__ import annotations

from backends.rtl.area.net import FALSE, TRUE
from backends.rtl.area.netlist import Adder, Bits, Comparator, Multiplier, Netlist
from backends.rtl.area.sums import Open, Summands, reduced

SHORT = 4
"""Chains of so many bits become tables (Yosys' ``ccu2c`` mapping)."""

_FIRST = 1 << 40  # of the bits that no net has


class Arithmetic:
    """Adders, comparisons, shifts and products of one netlist, equal ones shared."""

    def __init__(self, netlist: Netlist) -> None:
        self._netlist, self._net = netlist, netlist.net
        self._known: dict[object, Bits] = {}
        self._open: dict[int, Open] = {}

    def add(self, lhs: Bits, rhs: Bits, subtract: bool, inner: bool = False) -> Bits:
        """``lhs + rhs`` or ``lhs - rhs`` of one width, modulo that; ``inner``: for another sum."""
        open_ = any(bit >> 1 in self._open for bit in (*lhs, *rhs))
        if open_ and not inner:
            summands = Summands(self._open)
            summands.add(lhs, False)
            summands.add(rhs, subtract)
            return self._chain(*reduced(self._net, summands, len(lhs)))
        below, passing = (0, lhs[:0]) if open_ else _passing(lhs, rhs, subtract)
        lhs, rhs = lhs[below:], rhs[below:]
        if not any(rhs):
            return passing + lhs
        if not any(lhs) and not subtract:
            return passing + rhs
        if inner:
            return passing + self._later(lhs, rhs, subtract)
        return passing + self._chain(lhs, rhs, subtract)

    def _later(self, lhs: Bits, rhs: Bits, subtract: bool) -> Bits:
        """Bits for a sum that becomes part of another one."""
        first = _FIRST + len(self._open)
        for n, (a, b) in enumerate(zip(lhs, rhs, strict=True), first):
            self._open[n] = Open(a, b, subtract)
        return [2 * n for n in range(first, first + len(lhs))]

    def _chain(self, lhs: Bits, rhs: Bits, subtract: bool) -> Bits:
        low, lhs, rhs, subtract = _computed(lhs, rhs, subtract)
        if not lhs:
            return low
        width = min(len(lhs), _significant(lhs, rhs) + 1)
        fill = len(lhs) - width
        none = lhs[width - 1] == rhs[width - 1] == FALSE and not subtract
        total = self._sum(lhs[:width], rhs[:width], subtract)
        return low + total + [FALSE if none else total[-1]] * fill

    def _sum(self, lhs: Bits, rhs: Bits, subtract: bool) -> Bits:
        if len(lhs) <= SHORT:
            return self._rippled(lhs, rhs, subtract)
        key = (subtract, tuple(lhs), tuple(rhs))
        if key not in self._known:
            total = self._net.leaves(len(lhs))
            self._netlist.hard.append(Adder(lhs, rhs, subtract, total))
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
        below = _equal_below(lhs[:width], rhs[:width], equal)
        lhs, rhs = lhs[below:width], rhs[below:width]
        if equal and not any(rhs) and not signed:
            return self._net.any_of(lhs) ^ 1
        known = equal and max(lhs) <= TRUE  # a least value, which is functions of one variable more
        if len(lhs) <= (SHORT + 3 if known else SHORT) or (known and not signed and sum(lhs) == 1):
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


def _passing(lhs: Bits, rhs: Bits, subtract: bool) -> tuple[int, Bits]:
    """How many low bits of a sum are one operand's, and these; a chain has the others only."""
    below, other = _run(rhs, FALSE), _run(lhs, FALSE)
    if not subtract and other > below:
        return other, rhs[:other]
    return below, lhs[:below]


def _computed(lhs: Bits, rhs: Bits, subtract: bool) -> tuple[Bits, Bits, Bits, bool]:
    """Low bits of a sum that are constants, and what is left of both operands above them."""
    carry, low = int(subtract), list[int]()
    for a, b in zip(lhs, rhs, strict=True):
        if max(a, b) > TRUE:
            break
        total = a + (b ^ subtract) + carry
        low.append(total & 1)
        carry = total >> 1
    flip = subtract ^ bool(carry)
    return low, lhs[len(low) :], [bit ^ flip for bit in rhs[len(low) :]], bool(carry)


def _run(bits: Bits, value: int) -> int:
    """How many low bits are this constant."""
    return next((n for n, bit in enumerate(bits) if bit != value), len(bits))


def _equal_below(lhs: Bits, rhs: Bits, equal: bool) -> int:
    """Low bits that change no comparison: those of a constant that are all least, or all greatest."""
    for constant, value in ((rhs, int(equal)), (lhs, int(not equal))):
        if max(constant) <= TRUE:
            return min(_run(constant, value), len(constant) - 1)
    return 0


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
