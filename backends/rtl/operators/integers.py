"""Integer operators of any width as expressions; results are exact modulo ``2**width``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backends.rtl.ir import Expr, Lit, concat, lit, mux

LIMB = 18
"""Bits of an operand of MULT18X18D, the sign included."""

NARROW = 3
"""Multiplying by so few bits is left to adders."""

CHUNK = 40
"""Bits of a piece of an adder that is cut into stages."""


@dataclass(frozen=True, slots=True)
class Operand:
    """Bits, and whether the top one is a sign."""

    bits: Expr
    signed: bool

    def to(self, width: int) -> Expr:
        """Its value modulo ``2**width``."""
        return self.bits.resize(width, self.signed)


def add_carry(a: Expr, b: Expr, carry: Expr) -> Expr:
    """``a + b + carry`` modulo ``2**width`` on one carry chain."""
    if isinstance(carry, Lit):
        return a + b if carry.value == 0 else a - ~b
    return (concat(a, lit(1, 1)) + concat(b, carry)).high(a.width)


def negate_if(a: Expr, cond: Expr, extra: Expr | None = None) -> Expr:
    """``cond ? -a : a``; ``cond ? -a - 1 + extra : a`` where ``extra`` implies ``cond``."""
    flipped = a ^ cond.sext(a.width) if a.width > 1 else a ^ cond
    return add_carry(flipped, lit(0, a.width), cond if extra is None else extra)


def add(a: Operand, b: Operand, width: int, *, subtract: bool, split: bool) -> Expr:
    """Sum or difference; ``split`` into pieces that a pipeline can be cut between."""
    x, y = a.to(width), b.to(width)
    if not split or width <= CHUNK:
        return x - y if subtract else x + y
    y = ~y if subtract else y
    carry: Expr = lit(int(subtract), 1)
    parts: list[Expr] = []
    for low in range(0, width, CHUNK):
        high = min(low + CHUNK, width) - 1
        size = high - low + 2
        part = add_carry(x.bits(high, low).zext(size), y.bits(high, low).zext(size), carry)
        parts.append(part.low(size - 1))
        carry = part[-1]
    return concat(*reversed(parts))


def multiply(a: Operand, b: Operand, width: int) -> Expr:
    """Product of tiles, each of which a DSP block takes."""
    a, b = _cut(a, width), _cut(b, width)
    if _small(a, b):
        return Operand(_tile(a, b), a.signed or b.signed).to(width)
    plain = not (a.signed or b.signed)
    terms: list[tuple[Expr, int, bool]] = []
    for x, x_at in _limbs(a, plain):
        for y, y_at in _limbs(b, plain):
            at = x_at + y_at
            if at < width:
                terms.append((_tile(x, y), at, x.signed or y.signed))
    return total(terms, width)


def _cut(a: Operand, width: int) -> Operand:
    """What matters of an operand modulo ``2**width``: beyond, its sign does not."""
    return Operand(a.bits.low(width), False) if a.bits.width >= width else a


def _small(a: Operand, b: Operand) -> bool:
    """Whether one tile takes the product."""
    if a.signed == b.signed:
        wide = max(a.bits.width, b.bits.width)
    else:
        wide = max(a.bits.width + (not a.signed), b.bits.width + (not b.signed))
    return wide <= LIMB


def _limbs(a: Operand, plain: bool) -> list[tuple[Operand, int]]:
    size = LIMB if plain else LIMB - 1
    width, at, limbs = a.bits.width, 0, []
    while width - at > size + (a.signed and not plain):
        limbs.append((Operand(a.bits.bits(at + size - 1, at), False), at))
        at += size
    limbs.append((Operand(a.bits.bits(width - 1, at), a.signed), at))
    return limbs


def _tile(a: Operand, b: Operand) -> Expr:
    """The exact product of what one DSP block takes; few bits are added up instead."""
    if a.bits.width < b.bits.width:
        a, b = b, a
    width = a.bits.width + b.bits.width
    if b.bits.width > NARROW:
        return a.to(width) * b.to(width)
    terms: list[tuple[Expr, int, bool]] = []
    top = b.bits.width - 1
    for i in range(b.bits.width):
        row = a.bits & (b.bits[i].sext(a.bits.width) if a.bits.width > 1 else b.bits[i])
        if i == top and b.signed:
            wide = Operand(row, a.signed).to(a.bits.width + 1)
            terms.append((lit(0, a.bits.width + 1) - wide, i, True))
        else:
            terms.append((row, i, a.signed))
    return total(terms, width)


def total(terms: Sequence[tuple[Expr, int, bool]], width: int) -> Expr:
    """The sum of terms ``(bits, position, signed)`` modulo ``2**width``, as a balanced tree.

    Low bits that only one of two terms has pass by the adder.
    """
    level = sorted(terms, key=lambda t: t[1])
    while len(level) > 1:
        paired = [
            _sum(level[i], level[i + 1], width) if i + 1 < len(level) else level[i]
            for i in range(0, len(level), 2)
        ]
        level = sorted(paired, key=lambda t: t[1])
    bits, at, signed = level[0]
    placed = concat(bits, lit(0, at)) if at else bits
    return placed.resize(width, signed)


def _sum(
    a: tuple[Expr, int, bool], b: tuple[Expr, int, bool], width: int
) -> tuple[Expr, int, bool]:
    """Of terms at ascending positions."""
    (x, x_at, x_signed), (y, y_at, y_signed) = a, b
    gap = y_at - x_at
    room = width - y_at
    if gap >= x.width and not x_signed:
        placed = concat(y, x.zext(gap)) if gap else y
        return placed, x_at, y_signed
    x_top = x.bits(x.width - 1, gap) if gap < x.width else x[-1]
    ends = max(x_top.width + (y_signed and not x_signed), y.width + (x_signed and not y_signed))
    size = min(ends + 1, room)
    upper = x_top.resize(size, x_signed) + y.resize(size, y_signed)
    if gap:
        lower = x.low(gap) if gap <= x.width else x.resize(gap, x_signed)
        upper = concat(upper, lower)
    return upper, x_at, x_signed or y_signed


def divide(a: Operand, b: Operand) -> tuple[Expr, Expr, Expr, Expr]:
    """Quotient and rest of the magnitudes, and the signs of ``a`` and ``b``; restoring division."""
    a_negative = a.bits[-1] if a.signed else lit(0, 1)
    b_negative = b.bits[-1] if b.signed else lit(0, 1)
    # Also the least number's magnitude has as many bits, taken as unsigned.
    x = negate_if(a.bits, a_negative) if a.signed else a.bits
    d = negate_if(b.bits, b_negative) if b.signed else b.bits
    quotient, rest = divide_unsigned(x, d)
    return quotient, rest, a_negative, b_negative


def divide_unsigned(x: Expr, d: Expr) -> tuple[Expr, Expr]:
    """Quotient (bits of ``x``) and rest (bits of ``d``) of a restoring division, a row a bit."""
    rest: Expr = lit(0, d.width)
    bits: list[Expr] = []
    for i in range(x.width - 1, -1, -1):
        fed = concat(rest, x[i])
        less = fed.zext(d.width + 2) - d.zext(d.width + 2)
        fits = ~less[-1]
        rest = mux(fits, less.low(d.width), fed.low(d.width))
        bits.append(fits)
    return concat(*bits), rest


def quotient(a: Operand, b: Operand, width: int, *, floor: bool) -> Expr:
    """Truncated towards zero, or (``floor``) towards minus infinity."""
    q, rest, a_negative, b_negative = divide(a, b)
    signed = a.signed or b.signed
    wide = q.zext(q.width + 1) if signed else q
    negative = a_negative ^ b_negative
    if _never(negative):
        return Operand(wide, False).to(width)
    exact = negative & rest.none() if floor else None
    return Operand(negate_if(wide, negative, exact), True).to(width)


def remainder(a: Operand, b: Operand, width: int) -> Expr:
    """Of the division truncated towards zero: its sign is that of ``a``."""
    _, rest, negative, _ = divide(a, b)
    if _never(negative):
        return rest.resize(width, False)
    return Operand(negate_if(rest.zext(rest.width + 1), negative), True).to(width)


def _never(test: Expr) -> bool:
    """Both operands are unsigned, or one is and the other a constant that is not negative."""
    return isinstance(test, Lit) and not test.value


def common(a: Operand, b: Operand) -> tuple[Expr, Expr, bool]:
    """Both values in one width, and whether that is signed."""
    signed = a.signed or b.signed
    width = max(x.bits.width + (signed and not x.signed) for x in (a, b))
    return a.to(width), b.to(width), signed


def shift_left(a: Operand, amount: Expr, width: int) -> Expr:
    """By an unsigned amount."""
    by: Expr | int = amount.value if isinstance(amount, Lit) else amount
    return a.to(width).shl(by)


def shift_right(a: Operand, amount: Expr, width: int) -> Expr:
    """By an unsigned amount, the sign shifted in where there is one."""
    by: Expr | int = amount.value if isinstance(amount, Lit) else amount
    wide = a.to(max(width, a.bits.width))
    return (wide.sar(by) if a.signed else wide.shr(by)).low(width)
