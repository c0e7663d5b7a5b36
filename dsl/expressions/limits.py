"""Choices that are minima, maxima, or the nearest number between limits, as users write them with ``if``."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dsl.expressions import typing
from dsl.expressions.comparisons import OPPOSITE
from dsl.expressions.conversions import has_all_of
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Gather,
    Load,
    Select,
)
from dsl.expressions.numeric import Exact
from dsl.expressions.types import DType, FloatType, IntType

_OTHER = {BinaryOp.MIN: BinaryOp.MAX, BinaryOp.MAX: BinaryOp.MIN}


def extremum(cond: Expr, value: Expr, old: Expr) -> Expr | None:
    """``min(old, value)`` or ``max(old, value)`` where that is what ``value if cond else old`` is.

    Equal values are told apart in floats only (zeros have signs), and there the operators are
    defined by ``<`` and ``>``: ``min(a, b)`` is ``b if b < a else a``. An integer that is compared and then cut to
    the type of ``old`` is compared first here, too: ``u8(c) if c < old else old`` is ``u8(min(old, c))``.
    """
    if not isinstance(cond, Compare):
        return None
    if isinstance(value, Cast) and _is_cut(value, old.dtype):
        found = _compared(cond, value.operand, old)
        return None if found is None else typing.cast(old.dtype, found)
    if value.dtype != old.dtype and has_all_of(old.dtype, value.dtype):
        value = _widened(value, old.dtype)
    return _compared(cond, value, old) if value.dtype == old.dtype else None


def _is_cut(value: Cast, dtype: DType) -> bool:
    """Whether it makes an integer of a type of a wider one."""
    of = value.operand.dtype
    both = isinstance(of, IntType) and isinstance(dtype, IntType)
    return both and value.dtype == dtype and not has_all_of(dtype, of)


def _compared(cond: Compare, value: Expr, old: Expr) -> Binary | None:
    """The extremum of two numbers that a condition is, if it compares them."""
    if _is_same(cond.lhs, value) and _is_same(cond.rhs, old):
        is_less = cond.op in (CompareOp.LT, CompareOp.LE)
    elif _is_same(cond.lhs, old) and _is_same(cond.rhs, value):
        is_less = cond.op in (CompareOp.GT, CompareOp.GE)
    else:
        return None
    strict = cond.op in (CompareOp.LT, CompareOp.GT)
    if cond.op in (CompareOp.EQ, CompareOp.NE) or (isinstance(old.dtype, FloatType) and not strict):
        return None
    found = typing.binary(BinaryOp.MIN if is_less else BinaryOp.MAX, old, value)
    return found if isinstance(found, Binary) else None


def limits(value: Select) -> Expr:
    """A choice of the smaller or the larger of two exact numbers as what it is, and a choice between limits: ``h if t > h
    else max(t, l)`` is ``min(max(t, l), h)`` where ``l <= h``.
    """
    cond, dtype = value.cond, value.dtype
    if not isinstance(cond, Compare) or not isinstance(dtype, Exact):
        return value
    orelse = limits(value.orelse) if isinstance(value.orelse, Select) else value.orelse
    if isinstance(orelse, Load | Gather | Const | Cast | Binary):
        found = extremum(cond, value.then, orelse)
        if found is not None:
            return found
    if isinstance(orelse, Binary) and orelse.op in _OTHER:
        found = extremum(cond, value.then, orelse.lhs)
        within = isinstance(found, Binary) and found.op is _OTHER[orelse.op]
        if within and _is_within(value.then, orelse):
            return typing.binary(_OTHER[orelse.op], orelse, value.then)
    return replace(value, orelse=orelse)


def _is_within(limit: Expr, inner: Binary) -> bool:
    """Whether the inner limit does not reach over this one."""
    one, other = _number(inner.rhs), _number(limit)
    if one is None or other is None:
        return False
    return one <= other if inner.op is BinaryOp.MAX else one >= other


def _is_same(compared: Expr, taken: Expr) -> bool:
    """Whether what is compared and what is taken are one number, perhaps in a wider type."""
    if compared == taken:
        return True
    if not isinstance(compared.dtype, Exact) or not isinstance(taken.dtype, Exact):
        return False
    number, other = _number(compared), _number(taken)
    if number is not None and other is not None:
        return number == other
    while isinstance(taken, Cast) and has_all_of(taken.dtype, taken.operand.dtype):
        taken = taken.operand
        if compared == taken:
            return True
    return False


def _number(value: Expr) -> Fraction | None:
    """A constant, perhaps in a wider type."""
    while isinstance(value, Cast) and has_all_of(value.dtype, value.operand.dtype):
        value = value.operand
    return Fraction(value.value) if isinstance(value, Const) else None


def _widened(value: Expr, dtype: DType) -> Expr:
    """A number in a type that has it."""
    return Const(value.value, dtype) if isinstance(value, Const) else typing.cast(dtype, value)


def negated(cond: Expr) -> Expr | None:
    """The comparison that holds where one of exact numbers does not."""
    if not isinstance(cond, Compare):
        return None
    if isinstance(cond.lhs.dtype, FloatType) or isinstance(cond.rhs.dtype, FloatType):
        return None
    return replace(cond, op=OPPOSITE[cond.op])
