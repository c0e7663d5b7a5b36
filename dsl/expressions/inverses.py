"""Quotients and rests of integers by numbers as products with an inverse: which inverses are exact, and what is computed by one.

A quotient ``x // c`` of an ``x`` that is not negative is ``x * m >> s`` for an ``m`` a little above ``2**s / c``: as ``m * c``
is more than ``2**s`` by ``e``, the product is too large by ``x * e / c`` parts of ``2**s``, which makes the quotient no whole more
where ``x * e < 2**s`` (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994). Of a negative ``x`` the
quotient, rounded down as Python's is, is ``~(~x // c)``. The rest is ``x - (x // c) * c``, of which no more than the low bits of a
number less than ``c`` are computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

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


def quotients_of(expr: Expr) -> Iterator[Quotient]:
    """The quotients that an expression is: of what is multiplied, and of what that is converted from."""
    x, kept = _bare(expr)
    if not isinstance(x, Select):
        yield from _products(x, kept)
        return
    below = _complement(x.then)
    if below is None:
        return
    others = [*_products(*_bare(below, kept))]
    for found in _products(*_bare(x.orelse, kept)):
        match found.taken:
            case Select(cond, then, taken) if cond == x.cond and found in others:
                if _compared_with_zero(cond) == taken and _complement(then) == taken:
                    yield replace(found, taken=taken, signed=True)


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
    if not isinstance(q, Cast) or not 0 < c.value <= 1 << of.width:
        return None
    found = next((x for x in quotients_of(q.operand) if x.taken == taken), None)
    return None if found is None else Rest(found, c.value)


_EVERY = 1 << 30


def _bare(expr: Expr, kept: int = _EVERY) -> tuple[Expr, int]:
    """An expression without conversions between integers, and how many bits of a number that is not negative they keep."""
    while isinstance(expr, Cast) and isinstance(expr.dtype, IntType):
        kept = min(kept, expr.dtype.width - expr.dtype.signed)
        expr = expr.operand
    return expr, kept


def _products(x: Expr, kept: int) -> Iterator[Quotient]:
    match x:
        case Binary(
            BinaryOp.SHR,
            Binary(BinaryOp.MUL, factor, Const(value=int(number))),
            Const(value=int(amount)),
        ) if amount >= 0:
            yield Quotient(factor, number, amount, False, (_EVERY, kept))
            if isinstance(factor, Cast) and isinstance(factor.dtype, IntType):
                bits = factor.dtype.width - factor.dtype.signed
                yield Quotient(factor.operand, number, amount, False, (bits, kept))


def _complement(x: Expr) -> Expr | None:
    return x.operand if isinstance(x, Unary) and x.op is UnaryOp.INVERT else None


def _compared_with_zero(cond: Expr) -> Expr | None:
    """What a condition asks whether it is less than 0."""
    match cond:
        case Compare(CompareOp.LT, x, Const(value=0)):
            return x
    return None
