"""Between floats and fixed-point numbers."""

from __future__ import annotations

from typing import assert_never

from backends.rtl.ir import Expr, concat, lit, mux
from backends.rtl.operators.floats.parts import (
    BIAS,
    finish,
    leading_zeros,
    nearest_even,
    shift_left,
    shift_right_sticky,
    split_rounding,
    unpack,
)
from backends.rtl.operators.integers import negate_if
from dsl.expressions.types import FixedType, Overflow, Quant


def to_float(raw: Expr, frac: int, signed: bool) -> Expr:
    """``raw / 2**frac`` rounded to the nearest float."""
    sign = raw[-1] if signed else lit(0, 1)
    magnitude = negate_if(raw, sign) if signed else raw
    count, none = leading_zeros(magnitude)
    shifted = shift_left(magnitude, count) if magnitude.width > 1 else magnitude
    if shifted.width < 24:
        shifted = concat(shifted, lit(0, 24 - shifted.width))
    significand, up = split_rounding(shifted)
    top = BIAS + raw.width - 1 - frac
    # A multiple of what 10 bits have, so that the sign of a difference is right.
    width = max(10, abs(top).bit_length() + 2, count.width + 2)
    exponent = lit(top, width) - count.zext(width)
    zero = lit(0, 1)
    return finish(sign, exponent, significand, up, nan=zero, inf=zero, zero=none)


def from_float(x: Expr, fixed: FixedType) -> Expr:
    """The raw: quantised, then overflow as the type says. Infinities and NaNs give anything."""
    p = unpack(x)
    whole, guard, sticky, beyond = _aligned(p.exponent, p.significand, fixed)
    up = _rounds_up(fixed.quant, p.sign, whole[0], guard, sticky)
    magnitude = whole + up.zext(whole.width)
    result = _limited(magnitude, p.sign, beyond, fixed)
    return mux(p.zero, lit(0, fixed.width), result)


def _aligned(exponent: Expr, significand: Expr, fixed: FixedType) -> tuple[Expr, Expr, Expr, Expr]:
    """The magnitude at the type's point.

    Returns:
        Its whole part (bits for both the type and a significand, and one), the first bit behind
        the point, whether there are more, and whether the whole part is at least ``2**width``.
    """
    width = max(fixed.width, 24) + 1
    first = fixed.frac - BIAS - 23  # of the least exponent's bit 0, to the left of the point
    size = max(11, abs(first).bit_length() + 2, fixed.width.bit_length() + 2)
    shift = exponent.zext(size) + lit(first, size)
    right = shift[-1]
    # To the right: 24 bits of whole part, the guard and the sticky bit.
    back = lit(0, size) - shift
    steps = 5
    amount = back.low(steps) | back.high(size - steps).any().sext(steps)
    down = shift_right_sticky(concat(significand, lit(0, 2)), amount)
    # To the left: what is shifted out of the type is gone.
    bits = max(1, (fixed.width - 1).bit_length())
    wide = significand.resize(width, signed=False)
    left = shift_left(wide, shift.low(bits))
    far = shift.bits(size - 2, bits).any() if size - 1 > bits else lit(0, 1)
    left = mux(far, lit(0, width), left)
    beyond = ~right & lit(fixed.width - 24, size).lt(shift, signed=True)
    whole = mux(right, down.high(24).zext(width), left)
    return whole, right & down[1], right & down[0], beyond


def _rounds_up(mode: Quant, negative: Expr, odd: Expr, guard: Expr, sticky: Expr) -> Expr:
    """Whether the magnitude is rounded up; see `dsl.expressions.numeric.quantize` for the modes."""
    more = guard & sticky
    match mode:
        case Quant.TRN:
            return negative & (guard | sticky)
        case Quant.TRN_ZERO:
            return lit(0, 1)
        case Quant.RND:
            return mux(negative, more, guard)
        case Quant.RND_ZERO:
            return more
        case Quant.RND_INF:
            return guard
        case Quant.RND_MIN_INF:
            return mux(negative, guard, more)
        case Quant.RND_CONV:
            return nearest_even(odd, guard, sticky)
        case _:
            assert_never(mode)


def _limited(magnitude: Expr, negative: Expr, beyond: Expr, fixed: FixedType) -> Expr:
    """The raw of a magnitude with its sign; see `dsl.expressions.numeric.limit` for the modes."""
    width, wide = fixed.width, magnitude.width
    wrapped = negate_if(magnitude.low(width), negative)
    if fixed.overflow is Overflow.WRAP:
        return wrapped
    high = (1 << (width - fixed.signed)) - 1
    low = (1 << (width - 1)) if fixed.signed else 0  # its magnitude
    if fixed.overflow is Overflow.SAT_SYM and fixed.signed and width > 1:
        low -= 1
    over = ~negative & (beyond | lit(high, wide).lt(magnitude, signed=False))
    under = negative & (beyond | lit(low, wide).lt(magnitude, signed=False))
    if fixed.overflow is Overflow.SAT_ZERO:
        return mux(over | under, lit(0, width), wrapped)
    return mux(over, lit(high, width), mux(under, lit(-low, width), wrapped))
