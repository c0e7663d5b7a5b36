"""Assignments under a condition that are updates of an element: a minimum, a sum, a flag.

Their recurrence is one operator, which can be reassociated, and the condition is of what is added:
``if c: t += e`` is ``t += e if c else 0``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import inf

from dsl.expressions import typing
from dsl.expressions.choices import both, either, opposite, parts_of
from dsl.expressions.conversions import has_all_of
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Const,
    Expr,
    Gather,
    Load,
    Select,
    Unary,
    UnaryOp,
    walk,
)
from dsl.expressions.limits import extremum, limits, negated
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, boolean


def updated(
    cond: Expr, value: Expr, old: Load | Gather, holds: bool, written: Expr | None = None
) -> Expr | None:
    """What to assign everywhere instead of ``value`` where ``cond`` is ``holds``, if that is an update of the element.

    Arguments are those of `dsl.expressions.guarded.guarded`, ``value`` is harmless.
    """
    found = _extremum(written or cond, value, old) if holds else None
    return found or _update(cond, value, old, holds) or _flag(cond, value, old, holds)


def update(value: Expr, old: Load | Gather) -> Expr:
    """The value of an assignment, a choice of the new or the old one as what it is under ``if``: ``e if e < t else t``
    as ``min(t, e)``, and ``1 if c else t`` of a single bit as ``t | c``.

    Other choices stay: in ``r = r - d if r >= d else r`` the condition and the difference are computed side by side.
    """
    if isinstance(value, Cast) and isinstance(value.operand, Select):
        return typing.cast(value.dtype, limits(value.operand))
    if not isinstance(value, Select):
        return value
    value = limits(value)
    if not isinstance(value, Select):
        return value
    if value.orelse == old:
        found = _extremum(value.cond, value.then, old) or _flag(value.cond, value.then, old, True)
    elif value.then == old:
        # What is no number is neither less than another one nor as large.
        turned = negated(value.cond)
        found = _extremum(turned, value.orelse, old) if turned is not None else None
        found = found or _flag(value.cond, value.orelse, old, False)
    else:
        found = None
    return found or value


def _extremum(cond: Expr, value: Expr, old: Load | Gather) -> Expr | None:
    """``min(old, value)`` or ``max(old, value)`` where that is what is meant, perhaps under other conditions."""
    parts = parts_of(cond)
    if len(parts) > 1:
        return _extremum_under(parts, value, old)
    # What is assigned is cut to the type of the element, whether it says so or not.
    both = isinstance(value.dtype, IntType) and isinstance(old.dtype, IntType)
    if both and not has_all_of(old.dtype, value.dtype):
        value = typing.cast(old.dtype, value)
    found = extremum(cond, value, old)
    return found.operand if isinstance(found, Cast) and found.dtype == old.dtype else found


def _extremum_under(parts: tuple[Expr, ...], value: Expr, old: Load | Gather) -> Expr | None:
    """``min(old, value if all others else the largest number)`` where one of the conditions compares with ``old``."""
    for part in parts:
        others = [other for other in parts if other is not part]
        found = _extremum(part, value, old)
        if isinstance(found, Binary) and not any(old in walk(other) for other in others):
            return _update(reduce(both, others), found, old, True)
    return None


def _update(cond: Expr, value: Expr, old: Load | Gather, holds: bool) -> Expr | None:
    """``old op (e if cond else neutral)`` for ``old op e``, where ``old op neutral`` is ``old``."""
    if not isinstance(value, Binary):
        return None
    if _is(value.lhs, old):
        e = value.rhs
    elif _is(value.rhs, old) and value.op is not BinaryOp.SUB:
        e = value.lhs
    else:
        return None
    if old.dtype == boolean == e.dtype and value.op in (BinaryOp.AND, BinaryOp.OR):
        return _changed_bit(value.op, e, cond if holds else opposite(cond), old)
    if value.op in (BinaryOp.MIN, BinaryOp.MAX):
        neutral = _furthest(value, old)
        e = typing.cast(value.dtype, e)
    else:
        neutral = _neutral(value.op, e.dtype)
    if neutral is None:
        return None
    is_first = _is(value.lhs, old)
    choice = either(cond, holds, e, neutral)
    a, b = (value.lhs, choice) if is_first else (choice, value.rhs)
    return Binary(value.op, a, b, value.dtype, value.span)


def _flag(cond: Expr, value: Expr, old: Load | Gather, holds: bool) -> Expr | None:
    """``old | cond`` for a single bit that becomes 1, ``old & not cond`` for one that becomes 0, ``old ^ cond`` for one
    that turns.

    That the bit has not changed yet need not be asked for then: ``if not done and c: done = 1`` is ``done |= c``.
    """
    turns = value == Unary(UnaryOp.NOT, old, boolean)
    if old.dtype != boolean or not (turns or isinstance(value, Const)):
        return None
    taken = cond if holds else opposite(cond)
    if turns:
        return None if old in walk(taken) else Binary(BinaryOp.XOR, old, taken, boolean)
    assert isinstance(value, Const)
    op = BinaryOp.OR if value.value else BinaryOp.AND
    return _changed_bit(op, value, taken, old)


def _changed_bit(op: BinaryOp, e: Expr, taken: Expr, old: Load | Gather) -> Expr | None:
    """``old | e`` or ``old & e``, where ``taken`` holds, of single bits; None where only the bit decides."""
    is_or = op is BinaryOp.OR
    still = opposite(old) if is_or else old
    parts = [part for part in parts_of(taken) if part != still]
    if not isinstance(e, Const):
        parts.append(e if is_or else opposite(e))
    elif bool(e.value) is not is_or:
        return None  # it changes nothing
    if not parts:
        return None
    changes = reduce(both, parts)
    return Binary(op, old, changes if is_or else opposite(changes), boolean)


def _furthest(value: Binary, old: Load | Gather) -> Const | None:
    """The number that a minimum or maximum never takes instead of one of the element's.

    Of floats that holds where the element comes first: ``min(a, b)`` is ``b`` where ``a`` is not a number.
    """
    dtype, is_least = value.dtype, value.op is BinaryOp.MAX
    if dtype != old.dtype and not isinstance(old.dtype, IntType):
        return None
    if isinstance(dtype, FloatType):
        return Const(-inf if is_least else inf, dtype) if _is(value.lhs, old) else None
    if not isinstance(dtype, IntType):
        return None
    bits = dtype.width - dtype.signed
    low = -(1 << bits) if dtype.signed else 0
    return Const(low if is_least else (1 << bits) - 1, dtype)


def _is(x: Expr, old: Load | Gather) -> bool:
    """Whether it is the old value, also converted to a wider float, from which it comes back."""
    if (
        isinstance(x, Cast)
        and isinstance(x.dtype, FloatType)
        and isinstance(x.operand, Load | Gather)
    ):
        widened = isinstance(old.dtype, FloatType) and old.dtype.width < x.dtype.width
        return widened and x.operand == old
    return x == old


def _neutral(op: BinaryOp, dtype: DType) -> Const | None:
    """The operand of that type with which ``op`` changes no value, if there is one."""
    if isinstance(dtype, IndexType):
        dtype = IntType(32)
    number: int | None = None
    match op:
        case BinaryOp.ADD | BinaryOp.SUB:
            if isinstance(dtype, FloatType):  # 0.0 would make the sum of -0.0 and it 0.0
                return Const(-0.0 if op is BinaryOp.ADD else 0.0, dtype)
            number = 0
        case BinaryOp.OR | BinaryOp.XOR:
            number = 0
        case BinaryOp.MUL:
            if isinstance(dtype, FloatType):
                return Const(1.0, dtype)
            is_int = isinstance(dtype, IntType) and not (dtype.signed and dtype.width == 1)
            number = 1 if is_int else None
        case _:
            pass
    if number is None:
        return None
    return Const(Fraction(number) if isinstance(dtype, FixedType) else number, dtype)
