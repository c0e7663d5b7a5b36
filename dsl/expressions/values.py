"""Operators over everything that a value can be while a program is built: both front doors use it.

A value is a number (its type is still open), an `Affine` of loop variables (still usable as a
subscript, a bound or a condition), or a typed `Expr`. An operator keeps its result as far left in
that list as it can, so ``A[2 * i + 1]`` and ``B[i] = 2 * i + 1`` are written the same way.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from dsl.errors.errors import LanguageError, Span
from dsl.expressions import typing
from dsl.expressions.affine import Affine, Cond, Constraint, Or, negate
from dsl.expressions.bits import bitwise
from dsl.expressions.expr import BinaryOp, CompareOp, Expr, Index, UnaryOp
from dsl.expressions.guarded import harmless
from dsl.expressions.nesting import admit_value
from dsl.expressions.types import DType, IntType

Number = int | float | bool
Value = Number | Affine | Expr

MAX_COEFFICIENT = 2**62
"""Affine expressions are computed in 64 bits further down."""

MAX_BITS = 8192
"""Bits of the largest integer constant."""

NOTHING: Mapping[str, tuple[int, int]] = {}
"""No range of a loop variable is known."""

MAX_SHIFT = 30
"""Shifts of loop variables by constants up to this are affine: an index is an ``i32``."""


def plain(value: object) -> object:
    """Numbers of other libraries (NumPy's scalars) as Python's own; all else unchanged."""
    if isinstance(value, (bool, Fraction)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return value


def operand(value: Value) -> typing.Operand:
    """The value as an operand of `dsl.expressions.typing`: an affine expression becomes an `Index`."""
    return Index(value) if isinstance(value, Affine) else value


def as_affine(value: Value) -> Affine | None:
    """The value as an affine expression, else None."""
    if isinstance(value, Affine):
        return value
    return Affine.of(value) if isinstance(value, int) and not isinstance(value, bool) else None


def simplified(affine: Affine, span: Span | None = None) -> Affine | int:
    """An affine expression, or the integer that it is.

    Raises:
        LanguageError: W108 where a coefficient does not fit into 64 bits.
    """
    if any(abs(c) > MAX_COEFFICIENT for c in (affine.const, *(c for _, c in affine.terms))):
        raise LanguageError("W108", f"{short(affine)} does not fit into 64 bits", span=span)
    return affine.const if affine.is_const else affine


def short(affine: Affine) -> str:
    """Its text, cut where it is long."""
    text = str(affine)
    return text if len(text) < 80 else f"{text[:77]}..."


def binary(
    op: BinaryOp,
    a: Value,
    b: Value,
    span: Span | None = None,
    ranges: Mapping[str, tuple[int, int]] = NOTHING,
) -> Value:
    """``a op b``; affine where the operator, the operands and the ranges of loop variables allow it."""
    if isinstance(a, Affine) or isinstance(b, Affine):
        left, right = as_affine(a), as_affine(b)
        if left is not None and right is not None:
            result = affine_binary(op, left, right)
            if result is None:
                result = bitwise(op, left, right, ranges)
            if result is not None:
                return simplified(result, span)
    return typing.binary(op, operand(a), operand(b), span)


def shift(
    op: BinaryOp, a: Value, b: Affine, ends: tuple[int, int], span: Span | None = None
) -> Value:
    """``a << b`` or ``a >> b`` where the loops say that ``b`` lies between two ends.

    An amount that is never negative gets a type of no more bits than it needs.
    """
    low, high = ends
    amount = operand(b)
    if 0 <= low <= high <= typing.MAX_VARIABLE:
        amount = typing.cast(IntType(max(1, high.bit_length()), False), amount, span)
    return typing.shift(op, operand(a), amount, high, span)


def affine_binary(op: BinaryOp, a: Affine, b: Affine) -> Affine | None:
    """``a op b`` if that is affine, else None."""
    match op:
        case BinaryOp.ADD:
            return a + b
        case BinaryOp.SUB:
            return a - b
        case BinaryOp.MUL if b.is_const:
            return a * b.const
        case BinaryOp.MUL if a.is_const:
            return b * a.const
        case BinaryOp.FLOORDIV if b.is_const and b.const > 0:
            return a // b.const
        case BinaryOp.MOD if b.is_const and b.const > 0:
            return a % b.const
        case BinaryOp.SHL if b.is_const and 0 <= b.const <= MAX_SHIFT:
            return a * (1 << b.const)
        case BinaryOp.SHR if b.is_const and 0 <= b.const <= MAX_SHIFT:
            return a // (1 << b.const)
        case _:
            return None


def unary(op: UnaryOp, a: Value, span: Span | None = None) -> Value:
    """``op a``; the negative of an affine expression is affine, and so is its complement."""
    if isinstance(a, Affine) and op in (UnaryOp.NEG, UnaryOp.INVERT):
        return simplified(-a if op is UnaryOp.NEG else -a - 1, span)
    return typing.unary(op, operand(a), span)


def compare(op: CompareOp, a: Value, b: Value, span: Span | None = None) -> Value:
    """``a op b`` as data: ``u1``, or a bool of two numbers."""
    return typing.compare(op, operand(a), operand(b), span)


def condition(op: CompareOp, a: Affine, b: Affine) -> Cond:
    """``a op b`` as a condition on loop variables."""
    match op:
        case CompareOp.GE:
            return Constraint(a - b)
        case CompareOp.GT:
            return Constraint(a - b - 1)
        case CompareOp.LE:
            return Constraint(b - a)
        case CompareOp.LT:
            return Constraint(b - a - 1)
        case CompareOp.EQ:
            return Constraint(a - b, "==")
        case CompareOp.NE:
            different = negate(Constraint(a - b, "=="))
            assert isinstance(different, Or)
            return different


def logical(op: Literal["and", "or"], a: Value, b: Value, span: Span | None = None) -> Value:
    """``a and b`` or ``a or b``; ``b`` does not fail where ``a`` decides."""
    if isinstance(a, Expr) and isinstance(b, Expr):
        b = harmless(b, a, op == "and")
    return typing.logical(op, operand(a), operand(b), span)


def select(cond: Value, then: Value, orelse: Value, span: Span | None = None) -> Value:
    """``then if cond else orelse``; a condition that is known picks its side.

    Both sides are computed, and the one that is not taken does not fail.
    """
    if isinstance(cond, bool):
        return then if cond else orelse
    if isinstance(cond, Expr):
        then = then if isinstance(then, int | float | Affine) else harmless(then, cond, True)
        orelse = (
            orelse if isinstance(orelse, int | float | Affine) else harmless(orelse, cond, False)
        )
    return typing.select(operand(cond), operand(then), operand(orelse), span)


def cast(dtype: DType, a: Value, span: Span | None = None) -> Expr:
    """``dtype(a)``."""
    return typing.cast(dtype, operand(a), span)


def extremum(op: BinaryOp, values: tuple[Value, ...], span: Span | None = None) -> Value:
    """``min`` or ``max`` of one or more values, from left to right."""
    result = values[0]
    for value in values[1:]:
        result = binary(op, result, value, span)
    return result


def assigned(value: Value, target: DType, span: Span | None = None) -> Expr:
    """The value of an assignment to an element of type ``target`` (see `dsl.expressions.typing`)."""
    expr = typing.assigned(operand(value), target, span)
    admit_value(expr, span)
    return expr
