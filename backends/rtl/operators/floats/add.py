"""Sum and difference."""

from __future__ import annotations

from backends.rtl.ir import Expr, concat, lit, mux
from backends.rtl.operators.floats.parts import (
    finish,
    leading_zeros,
    shift_left,
    shift_right_sticky,
    split_rounding,
    unpack,
)
from backends.rtl.operators.integers import add_carry


def add(a: Expr, b: Expr, *, subtract: bool) -> Expr:
    """``a + b`` or ``a - b``, correctly rounded."""
    if subtract:
        b = concat(~b[31], b.low(31))
    less = a.low(31).lt(b.low(31), signed=False)
    forward = a.bits(30, 23) - b.bits(30, 23)
    backward = b.bits(30, 23) - a.bits(30, 23)
    x, z = unpack(mux(less, b, a)), unpack(mux(less, a, b))
    distance = mux(less, backward, forward)
    differ = x.sign ^ z.sign
    # Three bits more: the guard, one for a lost leading bit, and one for all that is shifted out.
    # A zero is shifted out as well, and then leaves nothing.
    small = concat(z.significand, lit(0, 3))
    far = distance.high(3).any() | z.zero
    shifted = shift_right_sticky(small, distance.low(5) | far.sext(5))
    aligned = concat(shifted.high(26), shifted[0] & ~z.zero)
    big = concat(lit(0, 1), x.significand, lit(0, 3))
    total = add_carry(big, aligned.zext(28) ^ differ.sext(28), differ)
    count, none = leading_zeros(total)
    significand, up = split_rounding(shift_left(total, count))
    exponent = (x.exponent.zext(10) + lit(1, 10)) - count.zext(10)
    cancelled = none & ~x.zero
    # Zeros of both signs add up to the positive one, and so does what cancels out.
    sign = mux(x.zero, x.sign & z.sign, x.sign & ~cancelled)
    return finish(
        sign,
        exponent,
        significand,
        up,
        nan=x.nan | z.nan | (x.inf & z.inf & differ),
        inf=x.inf,
        zero=x.zero | none,
        exact=True,
    )
