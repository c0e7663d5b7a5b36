"""Square root, digit by digit."""

from __future__ import annotations

from backends.rtl.ir import Expr, concat, lit, mux
from backends.rtl.operators.floats.parts import finish, split_rounding, unpack

ROWS = 25  # 24 bits of the root, and one to round


def square_root(a: Expr) -> Expr:
    """The root, correctly rounded; of negative numbers NaN, of minus zero minus zero."""
    x = unpack(a)
    # An odd exponent (of which the bias makes an even one) lends the significand a factor of 2.
    doubled = concat(x.significand, lit(0, 1))
    radicand = mux(x.exponent[0], doubled.shr(1), doubled)
    radicand = concat(radicand, lit(0, 25))
    # The point is behind the first pair of bits.
    root: Expr | None = None
    rest: Expr | None = None
    for row in range(ROWS):
        pair = radicand.bits(49 - 2 * row, 48 - 2 * row)
        fed = pair if rest is None else concat(rest, pair)
        test = lit(1, 2) if root is None else concat(root, lit(1, 2))
        width = max(fed.width, test.width) + 1
        less = fed.zext(width) - test.zext(width)
        fits = ~less[-1]
        keep = min(row + 2, fed.width)
        rest = mux(fits, less.low(keep), fed.low(keep))
        root = fits if root is None else concat(root, fits)
    assert root is not None
    assert rest is not None
    significand, up = split_rounding(concat(root, rest.any()))
    exponent = x.exponent.shr(1).zext(10) + lit(63, 10) + x.exponent[0].zext(10)
    return finish(
        x.sign,
        exponent,
        significand,
        up,
        nan=x.nan | (x.sign & ~x.zero),
        inf=x.inf,
        zero=x.zero,
    )
