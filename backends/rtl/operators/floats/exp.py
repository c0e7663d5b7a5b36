"""The exponential function, within 0.6 units in the last place.

``x = k ln 2 + r`` with ``0 <= r < 0.75``, so that ``exp(x) = 2**k exp(r)``. The top six bits of
``r`` choose ``exp`` of them from a table, and the rest ``l`` is small enough for
``exp(l) - 1 = l + l**2 (1/2 + l/6)``. All in fixed point; no step is off by more than ``2**-30``.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

from backends.rtl.ir import Expr, concat, lit, mux
from backends.rtl.operators import integers
from backends.rtl.operators.floats.parts import BIAS, finish, split_rounding, unpack
from backends.rtl.operators.integers import Operand, negate_if

POINT = 30  # bits of x and r behind the point
WHOLE = 7  # bits of |x| before it: beyond, the result is zero or infinite
TABLE = 6  # bits of r that choose from the table
ENTRIES = 48  # of it: r < 0.75


def exp(a: Expr) -> Expr:
    """``e ** a``; of what is too small zero, of what is too large infinite."""
    x = unpack(a)
    value = _fixed(x.exponent, x.significand, x.sign)
    k = _whole(value)
    rest = value.low(POINT + 1) - _times_ln2(k).low(POINT + 1)
    chosen = _table(rest.bits(POINT - 1, POINT - TABLE))
    small = rest.low(POINT - TABLE)
    increment = _increment(small)
    # 26 of its bits (units of 2**-24) times units of 2**-30.
    product = integers.multiply(Operand(chosen.high(26), False), Operand(increment, False), 51)
    total = chosen + product.high(27).zext(POINT + 2)
    carry = total[-1]
    high, high_up = split_rounding(total.low(POINT + 2))
    low, low_up = split_rounding(total.low(POINT + 1))
    exponent = k.sext(10) + lit(BIAS, 10)
    huge = lit(BIAS + WHOLE - 1, 8).lt(x.exponent, signed=False)
    return finish(
        lit(0, 1),
        mux(carry, exponent + lit(1, 10), exponent),
        mux(carry, high, low),
        mux(carry, high_up, low_up),
        nan=x.nan,
        inf=huge & ~x.sign,
        zero=huge & x.sign,
    )


def _fixed(exponent: Expr, significand: Expr, sign: Expr) -> Expr:
    """x with `WHOLE` bits and a sign before the point; of larger ones something."""
    width = WHOLE + POINT
    back = lit(BIAS + WHOLE - 1, 8) - exponent
    x: Expr = concat(significand, lit(0, width - 24))
    for i in range(5, -1, -1):
        x = mux(back[i], x.shr(1 << i), x)
    x = mux(back.high(2).any(), lit(0, width), x)
    return negate_if(x.zext(width + 1), sign)


def _whole(value: Expr) -> Expr:
    """``floor(x / ln 2)``, or one less where that is close to a whole number."""
    top = value.high(WHOLE + 1 + 10)
    factor = round(2**16 / _ln(2))  # 17 bits
    product = integers.multiply(Operand(top, True), Operand(lit(factor, 17), False), 35)
    # Less than both errors: of cutting x and of the factor.
    lowered = product - lit(1 << (26 - 9), 35)
    return lowered.high(9)


def _times_ln2(k: Expr) -> Expr:
    """``k ln 2`` with `POINT` bits behind the point, from two tables of 16."""
    more = 8
    high = [round(_ln(2) * (i - 32 * (i > 15)) * 16 * 2 ** (POINT + more)) for i in range(32)]
    low = [round(_ln(2) * i * 2 ** (POINT + more)) for i in range(16)]
    width = POINT + more + 9
    total = _choose(k.high(5), high, width) + _choose(k.low(4), low, width)
    return total.high(width - more)


def _increment(small: Expr) -> Expr:
    """``exp(l) - 1`` of 24 bits in units of 2**-30: 25 of them."""
    top = small.high(18)  # 2**-24
    square = integers.multiply(Operand(top, False), Operand(top, False), 36)  # 2**-48
    # l/8 (1 + 1/4) (1 + 1/16) (1 + 1/128): over l/6 by about the next term, l**2 / 24.
    part = small.high(9).zext(11) + small.high(7).zext(11)  # 2**-18
    part = part + part.high(7).zext(11)
    part = part + part.high(4).zext(11)
    half = lit(1 << 17, 18) + part.zext(18)
    tail = integers.multiply(Operand(square.high(18), False), Operand(half, False), 36)  # 2**-48
    return small.zext(25) + tail.high(18).zext(25)


def _table(index: Expr) -> Expr:
    """``exp`` of 64ths in units of 2**-30: 32 bits."""
    values = [round(_exp(Decimal(i) / 2**TABLE) * 2**POINT) for i in range(ENTRIES)]
    return _choose(index, values + values[-1:] * (2**TABLE - ENTRIES), POINT + 2)


def _choose(index: Expr, values: list[int], width: int) -> Expr:
    """A table of constants as logic."""
    level: list[Expr] = [lit(v, width) for v in values]
    for i in range(index.width):
        level = [mux(index[i], level[j + 1], level[j]) for j in range(0, len(level), 2)]
    return level[0]


def _ln(x: int) -> Decimal:
    with localcontext() as context:
        context.prec = 40
        return Decimal(x).ln()


def _exp(x: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec = 40
        return x.exp()
