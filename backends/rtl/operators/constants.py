"""Products with constants as shifts and sums, and divisions by constants as products."""

from __future__ import annotations

from backends.rtl.ir import Expr, Lit, lit
from backends.rtl.operators.integers import Operand, multiply, negate_if, total

FEW = 3
"""Digits of a constant up to which adders are taken rather than a multiplier."""


def value_of(a: Operand) -> int | None:
    """The number that an operand always is."""
    if not isinstance(a.bits, Lit):
        return None
    return a.bits.signed if a.signed else a.bits.value


def digits(constant: int) -> list[tuple[int, int]]:
    """The fewest powers of two that add up to a number, as (sign, exponent): its canonical form."""
    found: list[tuple[int, int]] = []
    at = 0
    while constant:
        if constant & 1:
            sign = 2 - (constant & 3)
            found.append((sign, at))
            constant -= sign
        constant >>= 1
        at += 1
    return found


def times(a: Operand, constant: int, width: int) -> Expr:
    """``a * constant`` modulo ``2**width``."""
    constant &= (1 << width) - 1
    short = constant - (constant >> (width - 1) << width)  # the same modulo 2**width
    parts = min((digits(constant), digits(short)), key=len)
    if len(parts) > FEW:
        least = constant if constant.bit_length() < abs(short).bit_length() + 1 else short
        bits = least.bit_length() + (1 if least < 0 else 0)
        return multiply(a, Operand(lit(least, bits), least < 0), width)
    sums = []
    for sign in (1, -1):
        terms = [(a.bits, at, a.signed) for s, at in parts if s == sign and at < width]
        sums.append(total(terms, width) if terms else lit(0, width))
    return sums[0] - sums[1]


def divide_by(a: Operand, constant: int, width: int, *, floor: bool) -> Expr:
    """``a / constant`` truncated towards zero, or (``floor``) towards minus infinity."""
    if constant == 0:
        return lit(0, width)
    if not a.signed:
        return _divide_by(a, constant, width, floor)
    sign = a.bits[-1]
    if floor and constant > 0:
        # Of negative numbers floor(x / d) = ~floor(~x / d).
        if a.bits.width == 1:
            return sign.sext(width) if width > 1 else sign
        magnitude = (a.bits ^ sign.sext(a.bits.width)).low(a.bits.width - 1)
        quotient = _unsigned(magnitude, constant)
        whole = quotient.zext(quotient.width + 1)
        return Operand(whole ^ sign.sext(whole.width), True).to(width)
    if floor:
        wide = a.to(a.bits.width + 1)
        negated = Operand(lit(0, wide.width) - wide, True)
        return divide_by(negated, -constant, width, floor=True)
    quotient = _unsigned(negate_if(a.bits, sign), abs(constant))
    whole = quotient.zext(quotient.width + 1)
    negative = sign if constant > 0 else ~sign
    return Operand(negate_if(whole, negative), True).to(width)


def _divide_by(a: Operand, constant: int, width: int, floor: bool) -> Expr:
    """Of an unsigned number."""
    if constant > 0:
        return _unsigned(a.bits, constant).resize(width, signed=False)
    wide = Operand(a.bits.zext(a.bits.width + 1), True)
    return divide_by(wide, constant, width, floor=floor)


def remainder_by(a: Operand, constant: int, width: int) -> Expr:
    """Of the division truncated towards zero: its sign is that of ``a``."""
    divisor = abs(constant)
    if divisor == 0:
        return lit(0, width)
    sign = a.bits[-1] if a.signed else lit(0, 1)
    magnitude = negate_if(a.bits, sign) if a.signed else a.bits
    size = min(magnitude.width, max(1, (divisor - 1).bit_length()))
    # The rest needs no more bits than the divisor, and neither does the product.
    quotient = Operand(_unsigned(magnitude, divisor), False)
    rest = magnitude.low(size) - times(quotient, divisor, size)
    if not a.signed:
        return rest.resize(width, signed=False)
    return Operand(negate_if(rest.zext(size + 1), sign), True).to(width)


def _unsigned(x: Expr, divisor: int) -> Expr:
    """``x / divisor`` of unsigned numbers, by a product with the reciprocal rounded up.

    With n bits of x and ``2**(k-1) < d <= 2**k`` the reciprocal ``m = ceil(2**(n+k) / d)`` is too
    large by less than ``2**k / d`` parts of ``2**(n+k)``, which no x of n bits makes a whole
    (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994).
    """
    n, k = x.width, (divisor - 1).bit_length()
    if divisor >= 1 << n:
        return lit(0, 1)
    reciprocal = -(-(1 << (n + k)) // divisor)
    shift = n + k
    while reciprocal & 1 == 0 and shift > 0:
        reciprocal, shift = reciprocal >> 1, shift - 1
    bits = max(1, (((1 << n) - 1) // divisor).bit_length())
    return times(Operand(x, False), reciprocal, shift + bits).high(bits)
