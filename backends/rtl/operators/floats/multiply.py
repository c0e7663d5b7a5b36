"""Product."""

from __future__ import annotations

from backends.rtl.ir import Expr, lit, mux
from backends.rtl.operators import integers
from backends.rtl.operators.floats.parts import BIAS, finish, split_rounding, unpack
from backends.rtl.operators.integers import Operand


def multiply(a: Expr, b: Expr) -> Expr:
    """``a * b``, correctly rounded."""
    x, y = unpack(a), unpack(b)
    product = integers.multiply(Operand(x.significand, False), Operand(y.significand, False), 48)
    high = product[47]
    low_significand, low_up = split_rounding(product.low(47))
    high_significand, high_up = split_rounding(product)
    exponent = x.exponent.zext(10) + y.exponent.zext(10)
    return finish(
        x.sign ^ y.sign,
        mux(high, exponent - lit(BIAS - 1, 10), exponent - lit(BIAS, 10)),
        mux(high, high_significand, low_significand),
        mux(high, high_up, low_up),
        nan=x.nan | y.nan | (x.inf & y.zero) | (x.zero & y.inf),
        inf=x.inf | y.inf,
        zero=x.zero | y.zero,
    )
