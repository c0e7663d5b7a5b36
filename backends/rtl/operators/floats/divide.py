"""Quotient, by restoring division: a row of subtraction and choice for each bit."""

from __future__ import annotations

from backends.rtl.ir import Expr, concat, lit, mux
from backends.rtl.operators.floats.parts import BIAS, finish, nearest_even, unpack

ROWS = 26  # the bit before the point, 24 behind it where that is zero, and one to round


def divide(a: Expr, b: Expr) -> Expr:
    """``a / b``, correctly rounded."""
    x, y = unpack(a), unpack(b)
    rest = x.significand.zext(25)
    bits: list[Expr] = []
    for _ in range(ROWS):
        less = rest.zext(26) - y.significand.zext(26)
        fits = ~less[25]
        bits.append(fits)
        rest = concat(mux(fits, less.low(24), rest.low(24)), lit(0, 1))
    quotient, sticky = concat(*bits), rest.any()
    whole = bits[0]
    significand = mux(whole, quotient.bits(25, 2), quotient.bits(24, 1))
    up = mux(
        whole,
        nearest_even(quotient[2], quotient[1], quotient[0] | sticky),
        nearest_even(quotient[1], quotient[0], sticky),
    )
    exponent = x.exponent.zext(10) - y.exponent.zext(10)
    return finish(
        x.sign ^ y.sign,
        mux(whole, exponent + lit(BIAS, 10), exponent + lit(BIAS - 1, 10)),
        significand,
        up,
        nan=x.nan | y.nan | (x.zero & y.zero) | (x.inf & y.inf),
        inf=x.inf | y.zero,
        zero=x.zero | y.inf,
    )
