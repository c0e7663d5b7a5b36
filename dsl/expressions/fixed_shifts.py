"""Shifts of fixed point: by a constant the point moves, by a variable the bits do.

``x >> n`` of ``x: fixed[16, 3]`` and ``n`` of 0 to 11 is ``x * 2**-n`` exactly, of 11 bits more right of the point::

    i27(x * 2**(13 + 11)) >> n          # the integer of the bits, with room for those that are shifted out
    ... * 2**-(13 + 11)                 # and the point back in its place
"""

from __future__ import annotations

from fractions import Fraction

from dsl.errors.errors import LanguageError, Span
from dsl.expressions.expr import Binary, BinaryOp, Cast, Const, Expr
from dsl.expressions.result_types import binary_type
from dsl.expressions.types import MAX_WIDTH, FixedType, IntType


def scaled(op: BinaryOp, x: Expr, amount: int, span: Span | None) -> Expr:
    """Fixed point times a power of two, which only moves the point.

    Raises:
        LanguageError: W127 an amount that is negative or too large.
    """
    if amount < 0 or amount > MAX_WIDTH:
        raise LanguageError(
            "W127",
            f"fixed point is shifted by 0 to {MAX_WIDTH} places, not by {amount}",
            span=span,
            help="a shift the other way has the other operator" if amount < 0 else None,
        )
    return _times(x, amount if op is BinaryOp.SHL else -amount, span)


def moved(op: BinaryOp, x: Expr, amount: Expr, most: int, span: Span | None) -> Expr:
    """Fixed point shifted by an amount of at most ``most``, exactly.

    Raises:
        LanguageError: W128 the result has too many bits.
    """
    dtype = x.dtype
    assert isinstance(dtype, FixedType)
    places = dtype.frac + (most if op is BinaryOp.SHR else 0)
    width = dtype.width + most
    if width > MAX_WIDTH:
        message = f"the result of a shift by up to {most} places has {width} bits"
        raise LanguageError("W128", message, span=span)
    bits = Cast(_times(x, places, span), IntType(width, dtype.signed), span)
    return _times(Binary(op, bits, amount, bits.dtype, span), -places, span)


def _times(x: Expr, places: int, span: Span | None) -> Expr:
    factor = Const(Fraction(2) ** places, FixedType(1, places + 1, False))
    dtype = binary_type(BinaryOp.MUL, x.dtype, factor.dtype, span)
    return Binary(BinaryOp.MUL, x, factor, dtype, span)
