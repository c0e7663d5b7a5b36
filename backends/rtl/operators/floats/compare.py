"""Comparisons: with a NaN nothing is equal or less."""

from __future__ import annotations

from backends.rtl.ir import Expr
from backends.rtl.operators.floats.parts import Parts, unpack


def equal(a: Expr, b: Expr) -> Expr:
    """1 bit: the numbers are equal, zeros of both signs too."""
    x, y = unpack(a), unpack(b)
    return ~(x.nan | y.nan) & (a.eq(b) | (x.zero & y.zero))


def less(a: Expr, b: Expr, *, or_equal: bool) -> Expr:
    """1 bit: ``a < b``, or ``a <= b``."""
    x, y = unpack(a), unpack(b)
    below = a.low(31).lt(b.low(31), signed=False)
    above = ~(below | a.low(31).eq(b.low(31)))
    by_sign = x.sign & ~y.sign
    same = ~(x.sign ^ y.sign)
    order = by_sign | (same & ((~x.sign & below) | (x.sign & above)))
    return _ordered(x, y, order, a.eq(b), or_equal)


def _ordered(x: Parts, y: Parts, order: Expr, same: Expr, or_equal: bool) -> Expr:
    zeros = x.zero & y.zero
    result = (order | same | zeros) if or_equal else (order & ~zeros)
    return ~(x.nan | y.nan) & result
