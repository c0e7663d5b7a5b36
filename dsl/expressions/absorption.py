"""Is a value, whatever else it depends on, one of the elements that it reads? By absorption: ``min(x, max(x, y))`` is ``x``.

Of integers and fixed point, whose operators are exact: of floats a sum rounds, and an extreme may be no number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import copysign

from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    Select,
    walk,
)
from dsl.expressions.types import FixedType, FloatType, IntType, boolean


def is_element(value: Expr, element: Callable[[Access], bool]) -> bool:
    """Whether a value is that of an element for certain.

    Args:
        value: an expression.
        element: whether what is read is that element.
    """
    if any(isinstance(part.dtype, FloatType) for part in walk(value)):
        return False
    return _Element(element).equal(value)


@dataclass(frozen=True, slots=True)
class _Element:
    """Compares values with an element ``x``."""

    is_read: Callable[[Access], bool]

    def equal(self, value: Expr) -> bool:
        """It is ``x``."""
        match value:
            case Load(access=access):
                return self.is_read(access)
            case Select(then=a, orelse=b):
                return self.equal(a) and self.equal(b)
            case Compare(op=CompareOp.EQ, lhs=a, rhs=Const(value=1)) if a.dtype == boolean:
                return self.equal(a)
            case Binary(op=BinaryOp.MIN, lhs=a, rhs=b):
                return self._either(a, b, self.at_least)
            case Binary(op=BinaryOp.MAX, lhs=a, rhs=b):
                return self._either(a, b, self.at_most)
            case Binary(op=BinaryOp.OR, lhs=a, rhs=b):
                return self._either(a, b, self.has_no_other_bits)
            case Binary(op=BinaryOp.AND, lhs=a, rhs=b):
                return self._either(a, b, self.has_all_bits)
            case _:
                return False

    def _either(self, a: Expr, b: Expr, other: Callable[[Expr], bool]) -> bool:
        return (self.equal(a) and other(b)) or (self.equal(b) and other(a))

    def at_least(self, value: Expr) -> bool:
        """It is ``x`` or more."""
        match value:
            case Binary(op=BinaryOp.MAX, lhs=a, rhs=b):
                return self.at_least(a) or self.at_least(b)
            case Binary(op=BinaryOp.ADD, lhs=a, rhs=b):
                return (self.at_least(a) and _is_unsigned(b)) or (
                    self.at_least(b) and _is_unsigned(a)
                )
            case Select(then=a, orelse=b):
                return self.at_least(a) and self.at_least(b)
            case _:
                return self.equal(value)

    def at_most(self, value: Expr) -> bool:
        """It is ``x`` or less."""
        match value:
            case Binary(op=BinaryOp.MIN, lhs=a, rhs=b):
                return self.at_most(a) or self.at_most(b)
            case Binary(op=BinaryOp.SUB, lhs=a, rhs=b):
                return self.at_most(a) and _is_unsigned(b)
            case Select(then=a, orelse=b):
                return self.at_most(a) and self.at_most(b)
            case _:
                return self.equal(value)

    def has_no_other_bits(self, value: Expr) -> bool:
        """No bit is 1 that is 0 in ``x``."""
        match value:
            case Const(value=0):
                return True
            case Binary(op=BinaryOp.AND, lhs=a, rhs=b):
                return self.has_no_other_bits(a) or self.has_no_other_bits(b)
            case Select(then=a, orelse=b):
                return self.has_no_other_bits(a) and self.has_no_other_bits(b)
            case _:
                return self.equal(value)

    def has_all_bits(self, value: Expr) -> bool:
        """No bit is 0 that is 1 in ``x``."""
        match value:
            case Binary(op=BinaryOp.OR, lhs=a, rhs=b):
                return self.has_all_bits(a) or self.has_all_bits(b)
            case Select(then=a, orelse=b):
                return self.has_all_bits(a) and self.has_all_bits(b)
            case _:
                return self.equal(value)


def _is_unsigned(value: Expr) -> bool:
    return isinstance(value.dtype, IntType | FixedType) and not value.dtype.signed


def is_kept(value: Expr, element: Callable[[Access], bool]) -> bool:
    """Whether a value is that of an element bit for bit, also of floats: ``x``, ``x - 0``, ``x + -0.0``, ``x * 1``.

    Args:
        value: an expression.
        element: whether what is read is that element.
    """
    match value:
        case Load(access=access):
            return element(access)
        case Cast(Load(access=access, dtype=narrow), FloatType() as wide):
            return element(access) and isinstance(narrow, FloatType) and narrow.width <= wide.width
        case Binary(op=op, lhs=a, rhs=Const() as b):
            return _is_neutral(op, b) and is_kept(a, element)
        case Binary(op=op, lhs=Const() as a, rhs=b) if op is not BinaryOp.SUB:
            return _is_neutral(op, a) and is_kept(b, element)
        case _:
            return False


def _is_neutral(op: BinaryOp, x: Const) -> bool:
    """Whether the operation with a number changes no value of any kind; zeros of floats have signs."""
    if isinstance(x.dtype, FloatType) and op in (BinaryOp.ADD, BinaryOp.SUB):
        return x.value == 0 and copysign(1, x.value) == (-1 if op is BinaryOp.ADD else 1)
    if op in (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.OR, BinaryOp.XOR):
        return x.value == 0
    return op is BinaryOp.MUL and x.value == 1
