"""Quotients and rests of integers by numbers as products with an inverse: which inverses are exact, and what is computed by one.

A quotient ``x // c`` of an ``x`` that is not negative is ``x * m >> s`` for an ``m`` a little above ``2**s / c``: as ``m * c``
is more than ``2**s`` by ``e``, the product is too large by ``x * e / c`` parts of ``2**s``, which makes the quotient no whole more
where ``x * e < 2**s`` (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994). Of a negative ``x`` the
quotient, rounded down as Python's is, is ``~(~x // c)``. The rest is ``x - (x // c) * c``, of which no more than the low bits of a
number less than ``c`` are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Select,
    Unary,
    UnaryOp,
)
from dsl.expressions.types import IntType


def inverse(by: int, most: int) -> tuple[int, int]:
    """``m`` and ``s`` with ``x // by == x * m >> s`` for 0 to ``most``, of the smallest ``s``.

    Args:
        by: 2 or more.
        most: 0 or more.
    """
    for amount in range(by.bit_length() + most.bit_length() + 1):
        number = -(-(1 << amount) // by)
        if is_inverse(number, amount, by, most):
            return number, amount
    raise AssertionError(f"no inverse of {by} up to {most}")


def is_inverse(number: int, amount: int, by: int, most: int) -> bool:
    """Whether ``x * number >> amount`` is ``x // by`` for all of 0 to ``most``, by what stands above."""
    beyond = number * by - (1 << amount)
    return beyond >= 0 and most * beyond < 1 << amount


@dataclass(frozen=True, slots=True)
class Quotient:
    """A product with an inverse that is shifted to the right.

    Attributes:
        taken: what is divided, of which negative numbers are complements on the way if it is ``signed``.
        number: the inverse.
        amount: by which the product is shifted.
        signed: see there.
        bits: that are kept of what is multiplied, and of the quotient.
    """

    taken: Expr
    number: int
    amount: int
    signed: bool
    bits: tuple[int, int]

    def divides(self, by: int, low: int, high: int) -> bool:
        """Whether it is ``taken // by`` where that is ``low`` to ``high``."""
        if low < 0 and not self.signed:
            return False
        most = max(high, ~low)
        widths = most.bit_length(), (most // by).bit_length()
        fits = all(width <= kept for width, kept in zip(widths, self.bits, strict=True))
        return fits and is_inverse(self.number, self.amount, by, most)


@dataclass(frozen=True, slots=True)
class Rest:
    """What such a quotient leaves over, by the low bits of a number less than ``by``."""

    quotient: Quotient
    by: int


def quotient_of(expr: Expr) -> Quotient | None:
    """The quotient that an expression is; None of any other one."""
    x, kept = _bare(expr)
    if not isinstance(x, Select):
        return _product(x, kept)
    found, below = _product_of_sign(x.orelse, kept), _complement(x.then)
    if below is None or found is None or _product_of_sign(below, kept) != found:
        return None
    magnitude = found.taken
    if not isinstance(magnitude, Select) or magnitude.cond != x.cond:
        return None
    taken = magnitude.orelse
    is_below = _compared_with_zero(x.cond) == taken and _complement(magnitude.then) == taken
    return Quotient(taken, found.number, found.amount, True, found.bits) if is_below else None


def rest_of(expr: Expr) -> Rest | None:
    """The rest that an expression is; None of any other one."""
    match expr:
        case Cast(
            Binary(BinaryOp.SUB, Cast(taken, low), Cast(Binary(BinaryOp.MUL, q, c), back)), of
        ):
            pass
        case _:
            return None
    if not (low == back == of and isinstance(of, IntType) and not of.signed):
        return None
    if not isinstance(c, Const) or not isinstance(c.value, int) or c.dtype != of or q.dtype != of:
        return None
    quotient = quotient_of(q.operand if isinstance(q, Cast) else q)
    if quotient is None or quotient.taken != taken or not 0 < c.value <= 1 << of.width:
        return None
    return Rest(quotient, c.value)


_EVERY = 1 << 30


def _bare(expr: Expr) -> tuple[Expr, int]:
    """An expression without conversions between integers, and how many bits of a number that is not negative they keep."""
    kept = _EVERY
    while isinstance(expr, Cast) and isinstance(expr.dtype, IntType):
        kept = min(kept, expr.dtype.width - expr.dtype.signed)
        expr = expr.operand
    return expr, kept


def _product_of_sign(expr: Expr, kept: int) -> Quotient | None:
    x, bits = _bare(expr)
    return _product(x, min(kept, bits))


def _product(x: Expr, kept: int) -> Quotient | None:
    match x:
        case Binary(
            BinaryOp.SHR,
            Binary(BinaryOp.MUL, factor, Const(value=int(number))),
            Const(value=int(amount)),
        ) if amount >= 0:
            taken, bits = _bare(factor)
            return Quotient(taken, number, amount, False, (bits, kept))
    return None


def _complement(x: Expr) -> Expr | None:
    return x.operand if isinstance(x, Unary) and x.op is UnaryOp.INVERT else None


def _compared_with_zero(cond: Expr) -> Expr | None:
    """What a condition asks whether it is less than 0."""
    match cond:
        case Compare(CompareOp.LT, x, Const(value=0)):
            return x
    return None
