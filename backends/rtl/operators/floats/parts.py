"""What the operators of floats share: taking apart, shifting, counting zeros, rounding."""

from __future__ import annotations

from dataclasses import dataclass

from backends.rtl.ir import Expr, concat, lit, mux

BIAS = 127
NAN = 0x7FC00000


@dataclass(frozen=True, slots=True)
class Parts:
    """A binary32: ``significand`` of 24 bits has the leading one (where it is not zero)."""

    sign: Expr
    exponent: Expr
    significand: Expr
    zero: Expr
    inf: Expr
    nan: Expr


def unpack(x: Expr) -> Parts:
    """The parts of a number; subnormal ones count as zero, whose significand means nothing."""
    exponent, fraction = x.bits(30, 23), x.low(23)
    top, some = exponent.all(), fraction.any()
    return Parts(
        x[31],
        exponent,
        concat(lit(1, 1), fraction),
        exponent.none(),
        top & ~some,
        top & some,
    )


def finish(
    sign: Expr,
    exponent: Expr,
    significand: Expr,
    up: Expr,
    *,
    nan: Expr,
    inf: Expr,
    zero: Expr,
    exact: bool = False,
) -> Expr:
    """Round and put together.

    Args:
        sign: Of the result.
        exponent: Biased, signed, at least 10 bits, of a significand in [1, 2).
        significand: 24 bits, the first of which is 1.
        up: Whether the significand is rounded up.
        nan: The result is no number; goes before all else.
        inf: It is infinite; goes before ``zero``.
        zero: It is zero.
        exact: What lies below the least normal number needs no rounding.
    """
    width = exponent.width
    # Just below the least normal number IEEE 754 has one bit less: what is all ones goes up.
    if not exact:
        up = up | (exponent.none() & significand.all())
    word = concat(exponent, significand.low(23)) + up.zext(width + 23)
    rounded = word.high(width)
    negative = rounded[-1]
    large = ~negative & (rounded.bits(width - 2, 8).any() | rounded.low(8).all())
    small = negative | rounded.none()
    number = mux(zero | small, lit(0, 31), word.low(31))
    number = mux(inf | (large & ~zero), lit(0x7F800000, 31), number)
    return mux(nan, lit(NAN, 32), concat(sign, number))


def nearest_even(last: Expr, guard: Expr, sticky: Expr) -> Expr:
    """Whether to round up: more than half, or half and odd."""
    return guard & (sticky | last)


def shift_right_sticky(x: Expr, amount: Expr) -> Expr:
    """To the right; the lowest bit becomes one where a one is lost."""
    lost: Expr = lit(0, 1)
    for i in range(amount.width - 1, -1, -1):
        step = 1 << i
        gone = x.low(min(step, x.width)).any()
        moved = x.shr(step)
        lost = lost | (amount[i] & gone)
        x = mux(amount[i], moved, x)
    return concat(x.high(x.width - 1), x[0] | lost)


def leading_zeros(x: Expr) -> tuple[Expr, Expr]:
    """How many zeros the bits begin with, and whether all are zero (the count then means nothing).

    As many bits as count to the width less one.
    """
    if x.width == 1:
        return lit(0, 1), ~x
    size = 1 << (x.width - 1).bit_length()
    padded = concat(x, lit(-1, size - x.width)) if size > x.width else x
    count, _ = _zeros(padded)
    return count, x.none()


def _zeros(x: Expr) -> tuple[Expr, Expr]:
    if x.width == 2:
        return ~x[1], x.none()
    half = x.width // 2
    high_count, high = _zeros(x.high(half))
    low_count, low = _zeros(x.low(half))
    return concat(high, mux(high, low_count, high_count)), high & low


def shift_left(x: Expr, amount: Expr) -> Expr:
    """To the left by a binary amount, the largest step first."""
    for i in range(amount.width - 1, -1, -1):
        x = mux(amount[i], x.shl(1 << i), x)
    return x


def split_rounding(x: Expr) -> tuple[Expr, Expr]:
    """The 24 top bits of what begins with a one, and whether they are rounded up."""
    significand = x.high(24)
    if x.width == 24:
        return significand, lit(0, 1)
    guard = x[x.width - 25]
    sticky = x.low(x.width - 25).any() if x.width > 25 else lit(0, 1)
    return significand, nearest_even(significand[0], guard, sticky)
