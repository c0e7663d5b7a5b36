"""Quasi-affine expressions and conditions over counters, as logic.

Subscripts of power-of-two rows become a concatenation of counters; anything else sums shifted
terms. Every width follows from the ranges of the counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from backends.rtl.ir import Expr, all_of, concat, lit
from dsl.expressions.affine import Affine, Atom, Constraint, FloorDiv


@dataclass(frozen=True, slots=True)
class Number:
    """An integer in hardware: ``low <= value <= high``, two's complement where ``low < 0``."""

    expr: Expr
    low: int
    high: int

    def resize(self, width: int) -> Expr:
        """Its value modulo ``2**width``."""
        return self.expr.resize(width, signed=self.low < 0)


Env = Mapping[str, Number]


def bits_for(low: int, high: int) -> int:
    """The least width that holds every value."""
    if low >= 0:
        return max(1, high.bit_length())
    return max((-low - 1).bit_length(), high.bit_length() if high > 0 else 0) + 1


def constant(value: int) -> Number:
    """A number that is always the same."""
    return Number(lit(value, bits_for(value, value)), value, value)


def number(affine: Affine, env: Env) -> Number:
    """The exact value of an expression."""
    parts = [(_atom(atom, env), factor) for atom, factor in affine.terms]
    low = high = affine.const
    for part, factor in parts:
        ends = sorted((part.low * factor, part.high * factor))
        low, high = low + ends[0], high + ends[1]
    width = bits_for(low, high)
    return Number(_sum(parts, affine.const, width), low, high)


def modulo(affine: Affine, width: int, env: Env) -> Expr:
    """The value of an expression modulo ``2**width``: an address."""
    parts = [(_atom(atom, env), factor) for atom, factor in affine.terms]
    return _sum(parts, affine.const, width)


def is_side_by_side(affine: Affine, width: int, env: Env) -> bool:
    """Whether an expression modulo ``2**width`` is no more than counters side by side."""
    parts = [(env[a], f) for a, f in affine.terms if isinstance(a, str)]
    return affine.is_linear and _concatenation(parts, affine.const, width) is not None


def holds(constraints: Iterable[Constraint], env: Env) -> Expr:
    """One bit: all constraints hold."""
    return all_of(_holds(constraint, env) for constraint in constraints)


def _holds(constraint: Constraint, env: Env) -> Expr:
    terms, const = constraint.expr.terms, constraint.expr.const
    left = Affine(tuple((a, c) for a, c in terms if c > 0), max(const, 0))
    right = -Affine(tuple((a, c) for a, c in terms if c < 0), min(const, 0))
    a, b = number(left, env), number(right, env)
    if constraint.kind == ">=":
        if a.low >= b.high or a.high < b.low:
            return lit(a.low >= b.high, 1)
    elif a.high < b.low or b.high < a.low:
        return lit(0, 1)
    low, high = min(a.low, b.low), max(a.high, b.high)
    width = bits_for(low, high)
    x, y = a.resize(width), b.resize(width)
    return y.le(x, signed=low < 0) if constraint.kind == ">=" else x.eq(y)


def _atom(atom: Atom, env: Env) -> Number:
    if isinstance(atom, str):
        return env[atom]
    return _floordiv(atom, env)


def _floordiv(atom: FloorDiv, env: Env) -> Number:
    value, divisor = number(atom.numerator, env), atom.denominator
    low, high = value.low // divisor, value.high // divisor
    if low == high:
        return constant(low)
    width = bits_for(low, high)
    shift = divisor.bit_length() - 1
    if divisor == 1 << shift:
        return Number(value.resize(width + shift).high(width), low, high)
    # Count from a multiple of the divisor, so that nothing is negative.
    base = low * divisor
    span = value.high - base
    factor, places = reciprocal(divisor, span)
    wide = bits_for(0, span * factor)
    offset = value.resize(max(wide, value.expr.width)).low(wide) - lit(base, wide)
    unsigned = Number(offset.low(bits_for(0, span)), 0, span)
    product = _sum([(unsigned, factor)], 0, wide)
    quotient = product.high(wide - places).resize(width, signed=False)
    return Number(quotient + lit(low, width), low, high)


def reciprocal(divisor: int, greatest: int) -> tuple[int, int]:
    """``m, s`` with ``n // divisor == n * m >> s`` for every ``0 <= n <= greatest``.

    ``m`` is the least above ``2**s / divisor``; its error times ``greatest`` stays below
    ``2**s``, so that no quotient reaches the next integer.
    """
    places = 0
    while True:
        factor = -(-(1 << places) // divisor)
        if (factor * divisor - (1 << places)) * greatest < 1 << places:
            return factor, places
        places += 1


def _sum(parts: list[tuple[Number, int]], const: int, width: int) -> Expr:
    """``sum(factor * number) + const`` modulo ``2**width``."""
    side_by_side = _concatenation(parts, const, width)
    if side_by_side is not None:
        return side_by_side
    total: Expr | None = None
    minus: list[Expr] = []
    for part, factor in parts:
        for sign, shift in _digits(factor):
            if shift >= width:
                continue
            term = part.resize(width).shl(shift)
            if sign < 0:
                minus.append(term)
            else:
                total = term if total is None else total + term
    total = lit(const, width) if total is None else total + lit(const, width)
    for term in minus:
        total = total - term
    return total


def _concatenation(parts: list[tuple[Number, int]], const: int, width: int) -> Expr | None:
    """The sum where no two terms share a bit."""
    if const < 0 or any(p.low < 0 or f < 0 or f & (f - 1) for p, f in parts):
        return None
    pieces = sorted(((f.bit_length() - 1, p) for p, f in parts), key=lambda piece: piece[0])
    result: list[Expr] = []
    at = 0
    for shift, part in [*pieces, (width, None)]:
        if shift < min(at, width):
            return None
        if shift > at and at < width:
            gap = min(shift, width) - at
            result.append(lit(const >> at, gap))
            at += gap
        if part is not None and at < width:
            bits = bits_for(0, part.high)
            if const >> at & ((1 << bits) - 1):
                return None
            bits = min(bits, width - at)
            result.append(part.expr.resize(bits, signed=False))
            at += bits
    return concat(*reversed(result))


def _digits(factor: int) -> list[tuple[int, int]]:
    """Signed powers of two that sum to ``factor``, no two neighbours (canonical signed digits)."""
    digits: list[tuple[int, int]] = []
    shift = 0
    while factor:
        if factor & 1:
            sign = 2 - (factor & 3)
            digits.append((sign, shift))
            factor -= sign
        factor >>= 1
        shift += 1
    return digits
