"""The value of an assignment that happens only where a condition on data holds.

Hardware computes both sides of a choice, so that ``if c: t = e`` is the assignment ``t = e if c else t``.
Two things are done on the way:

- What may fail where the condition does not hold, and would not run there, is given operands with which it
  cannot: a divisor of 1, an amount of 0 for a shift, a finite value for a conversion (`harmless`).
- Updates keep their form. ``if c: t += e`` is ``t += e if c else 0``, whose recurrence is the sum alone and
  which can be reassociated; ``if e < t: t = e`` is ``t = min(t, e)``, with another condition around it
  ``t = min(t, e if c else the largest number)``; ``if c: flag = 1`` is ``flag |= c``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import copysign, inf

from dsl.expressions import typing
from dsl.expressions.expr import (
    Binary,
    BinaryOp,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Gather,
    Index,
    Load,
    Scatter,
    Select,
    Unary,
    UnaryOp,
    walk,
)
from dsl.expressions.numeric import frac_of, signed_of, width_of
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, boolean

_NEGATED = {
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
    CompareOp.LT: CompareOp.GE,
    CompareOp.GE: CompareOp.LT,
    CompareOp.GT: CompareOp.LE,
    CompareOp.LE: CompareOp.GT,
}


def guarded(
    cond: Expr, value: Expr, old: Load | Gather, holds: bool = True, written: Expr | None = None
) -> Expr:
    """What to assign everywhere instead of ``value`` where ``cond`` is ``holds``.

    Args:
        cond: A ``u1``.
        value: The value that is assigned, as `dsl.expressions.typing.assigned` gave it.
        old: The element that is assigned.
        holds: What the condition is where the assignment happens.
        written: What the condition was computed from, where it is kept and nothing of that is changed yet.

    Returns:
        A value of the element's type, or one that the store converts to it as ``value``.
    """
    if isinstance(value, Scatter):
        old = Gather(value.access, value.data, old.dtype)
        kept = harmless(old, cond, holds)
        assert isinstance(kept, Gather)
        return Scatter(kept.access, kept.data, guarded(cond, value.value, kept, holds, written))
    value = harmless(value, cond, holds)
    if holds and (found := _extremum(written or cond, value, old)) is not None:
        return found
    if (found := _update(cond, value, old, holds)) is not None:
        return found
    if (found := _flag(cond, value, old, holds)) is not None:
        return found
    return _either(cond, holds, typing.cast(old.dtype, value), old)


def update(value: Expr, old: Load | Gather) -> Expr:
    """The value of an assignment, a choice of the new or the old one as what it is under ``if``: ``e if e < t else t``
    as ``min(t, e)``, and ``1 if c else t`` of a single bit as ``t | c``.

    Other choices stay: in ``r = r - d if r >= d else r`` the condition and the difference are computed side by side.
    """
    if not isinstance(value, Select):
        return value
    cond, taken = value.cond, value.then
    if value.then == old and not isinstance(old.dtype, FloatType) and isinstance(cond, Compare):
        cond, taken = replace(cond, op=_NEGATED[cond.op]), value.orelse
    elif value.orelse != old:
        return value
    return _extremum(cond, taken, old) or _flag(cond, taken, old, True) or value


def chosen(cond: Expr, then: Expr, orelse: Expr, dtype: DType) -> Expr:
    """What to assign to an element of type ``dtype`` that is ``then`` or ``orelse`` by ``cond``."""
    a, b = harmless(then, cond, True), harmless(orelse, cond, False)
    if isinstance(a, Scatter) and isinstance(b, Scatter):
        value = _either(cond, True, typing.cast(dtype, a.value), typing.cast(dtype, b.value))
        data = (
            d if d == e else _either(cond, True, d, e) for d, e in zip(a.data, b.data, strict=True)
        )
        return Scatter(a.access, tuple(data), value)
    return _either(cond, True, typing.cast(dtype, a), typing.cast(dtype, b))


def harmless(expr: Expr, cond: Expr, holds: bool) -> Expr:
    """``expr``, of which only the value where ``cond`` is ``holds`` is used, unable to fail elsewhere.

    Where it is used the value is the same. A subscript that is data is 0 where it is not used and the
    condition is about it: ``t[n] if n < 16 else 0`` reads inside of ``t`` always.
    """

    def inside(x: Expr) -> Expr:
        return harmless(x, cond, holds)

    def instead(x: Expr, other: Const) -> Expr:
        return x if _is_guarded(x, cond, holds, other) else _either(cond, holds, x, other)

    match expr:
        case Const() | Load() | Index():
            return expr
        case Gather(access, data, dtype):
            subscripts = (
                instead(d, Const(0, IntType(32) if isinstance(d.dtype, IndexType) else d.dtype))
                if _compares(cond, d) and not _is_kept(d, cond, holds)
                else d
                for d in map(inside, data)
            )
            return Gather(access, tuple(subscripts), dtype)
        case Scatter(access, data, value):
            place = inside(Gather(access, data, value.dtype))
            assert isinstance(place, Gather)
            return Scatter(access, place.data, inside(value))
        case Unary(op, x, dtype, span):
            return Unary(op, inside(x), dtype, span)
        case Binary(op, a, b, dtype, span):
            b = inside(b)
            if _divides(op, dtype) and not _is_never_zero(b):
                b = instead(b, _unit(b.dtype))
            elif op in (BinaryOp.SHL, BinaryOp.SHR) and _may_be_negative(b):
                b = instead(b, Const(0, b.dtype))
            return Binary(op, inside(a), b, dtype, span)
        case Compare(op, a, b, dtype, span):
            return Compare(op, inside(a), inside(b), dtype, span)
        case Select(c, a, b, dtype, span):
            return Select(inside(c), inside(a), inside(b), dtype, span)
        case Cast(x, dtype, span):
            x = inside(x)
            if isinstance(x.dtype, FloatType) and not isinstance(dtype, FloatType):
                x = instead(x, Const(0.0, x.dtype))
            return Cast(x, dtype, span)


def _either(cond: Expr, holds: bool, a: Expr, b: Expr) -> Expr:
    """``a`` where the condition is ``holds``, else ``b``.

    Where ``a`` is itself a choice between something and ``b`` the conditions are joined: of nested
    branches hardware gets one multiplexer, whose conditions are single bits.
    """
    if isinstance(a, Select) and (_is_one(a.then, b) or _is_one(a.orelse, b)):
        taken = cond if holds else _opposite(cond)
        if _is_one(a.orelse, b):
            return Select(_both(taken, a.cond), a.then, b, a.dtype, a.span)
        return Select(_both(taken, _opposite(a.cond)), a.orelse, b, a.dtype, a.span)
    found = typing.select(cond, a, b) if holds else typing.select(cond, b, a)
    assert not isinstance(found, int | float)
    return found


def _is_one(x: Expr, b: Expr) -> bool:
    """Whether both are the same element, or the same constant; zeros of floats have signs."""
    match x, b:
        case Const(one), Const(other):
            return x == b and (one != 0 or copysign(1, one) == copysign(1, other))
        case (Load(), Load()) | (Gather(), Gather()):
            return x == b
        case _:
            return False


def _opposite(cond: Expr) -> Expr:
    match cond:
        case Unary(UnaryOp.NOT, operand) if cond.dtype == boolean:
            return operand
        case _:
            return typing.unary(UnaryOp.NOT, cond)


def _both(a: Expr, b: Expr) -> Expr:
    found = typing.binary(BinaryOp.AND, a, b)
    assert isinstance(found, Expr)
    return found


def _parts(cond: Expr) -> tuple[Expr, ...]:
    """The conditions that a conjunction joins."""
    match cond:
        case Binary(BinaryOp.AND, a, b) if cond.dtype == boolean:
            return (*_parts(a), *_parts(b))
        case _:
            return (cond,)


def _compares(cond: Expr, x: Expr) -> bool:
    """Whether the condition compares that value or one that it is made of, as one does to keep it
    inside of an array. One that a mask or a remainder keeps there needs no condition.
    """
    masked = isinstance(x, Binary) and x.op in (BinaryOp.AND, BinaryOp.MOD)
    made_of = [x] if masked else [part for part in walk(x) if not isinstance(part, Const | Index)]
    return any(
        isinstance(part, Compare) and (part.lhs in made_of or part.rhs in made_of)
        for part in walk(cond)
    )


def _is_guarded(x: Expr, cond: Expr, holds: bool, other: Const) -> bool:
    """Whether it is ``other`` already where the condition is not ``holds``."""
    if not isinstance(x, Select):
        return False
    taken, left = (x.then, x.orelse) if holds else (x.orelse, x.then)
    if x.cond == cond:
        return left == other
    if x.orelse == other and (cond if holds else _opposite(cond)) in _parts(x.cond):
        return True
    return any(
        b == other and _is_guarded(a, cond, holds, other) for a, b in ((taken, left), (left, taken))
    )


def _is_kept(x: Expr, cond: Expr, holds: bool) -> bool:
    """Whether a subscript is 0 already where what the condition says of it alone does not hold."""
    if not isinstance(x, Select) or not isinstance(x.orelse, Const) or x.orelse.value != 0:
        return False
    told = (p for p in _parts(cond if holds else _opposite(cond)) if _compares(p, x.then))
    return all(p in _parts(x.cond) or _is_either(p) for p in told)


def _is_either(cond: Expr) -> bool:
    """Whether it is that one of several conditions holds: it says nothing of any of them."""
    match cond:
        case Unary(UnaryOp.NOT, Binary(BinaryOp.AND)):
            return True
        case Binary(BinaryOp.OR):
            return True
        case _:
            return False


def _is_never_zero(x: Expr) -> bool:
    """Whether it is a constant other than 0, or ``x if x != 0 else`` one."""
    if isinstance(x, Select) and isinstance(x.cond, Compare) and x.cond.op is CompareOp.NE:
        zero = x.cond.rhs
        is_itself = x.cond.lhs == x.then and isinstance(zero, Const) and zero.value == 0
        return is_itself and _is_never_zero(x.orelse)
    return isinstance(x, Const) and x.value != 0


def _divides(op: BinaryOp, dtype: DType) -> bool:
    """Whether it is a division that has no value for a divisor of 0; a float's is infinite."""
    exact = op is BinaryOp.DIV and not isinstance(dtype, FloatType)
    return exact or op in (BinaryOp.FLOORDIV, BinaryOp.MOD)


def _unit(dtype: DType) -> Const:
    """A value of that type that divides: the one of raw 1, or -1 where there is but that."""
    assert isinstance(dtype, IntType | FixedType | IndexType)
    raw = -1 if signed_of(dtype) and width_of(dtype) == 1 else 1
    if isinstance(dtype, FixedType):
        return Const(Fraction(raw) / Fraction(2) ** frac_of(dtype), dtype)
    return Const(raw, IntType(32) if isinstance(dtype, IndexType) else dtype)


def _may_be_negative(amount: Expr) -> bool:
    """Whether a shift by it may fail; constants and loop variables depend on no data."""
    of_loops = isinstance(amount, Cast) and isinstance(amount.operand, Index)
    if of_loops or isinstance(amount, Const):
        return False
    return isinstance(amount.dtype, IntType) and amount.dtype.signed


# ------------------------------------------------------------------------------------ updates


def _extremum(cond: Expr, value: Expr, old: Load | Gather) -> Expr | None:
    """``min(old, value)`` or ``max(old, value)`` where that is what is meant, perhaps under other conditions.

    Equal values are told apart in floats only (zeros have signs), and there the operators are
    defined by ``<`` and ``>``: ``min(a, b)`` is ``b if b < a else a``.
    """
    parts = _parts(cond)
    if len(parts) > 1:
        return _extremum_under(parts, value, old)
    if not isinstance(cond, Compare) or value.dtype != old.dtype:
        return None
    if (cond.lhs, cond.rhs) == (value, old):
        is_less = cond.op in (CompareOp.LT, CompareOp.LE)
    elif (cond.lhs, cond.rhs) == (old, value):
        is_less = cond.op in (CompareOp.GT, CompareOp.GE)
    else:
        return None
    strict = cond.op in (CompareOp.LT, CompareOp.GT)
    if cond.op in (CompareOp.EQ, CompareOp.NE) or (isinstance(old.dtype, FloatType) and not strict):
        return None
    return typing.binary(BinaryOp.MIN if is_less else BinaryOp.MAX, old, value)


def _extremum_under(parts: tuple[Expr, ...], value: Expr, old: Load | Gather) -> Expr | None:
    """``min(old, value if all others else the largest number)`` where one of the conditions compares with ``old``."""
    for part in parts:
        others = [other for other in parts if other is not part]
        found = _extremum(part, value, old)
        if isinstance(found, Binary) and not any(old in walk(other) for other in others):
            return _update(reduce(_both, others), found, old, True)
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
        return _changed_bit(value.op, e, cond if holds else _opposite(cond), old)
    if value.op in (BinaryOp.MIN, BinaryOp.MAX):
        neutral = _furthest(value, old)
        e = typing.cast(value.dtype, e)
    else:
        neutral = _neutral(value.op, e.dtype)
    if neutral is None:
        return None
    is_first = _is(value.lhs, old)
    choice = _either(cond, holds, e, neutral)
    a, b = (value.lhs, choice) if is_first else (choice, value.rhs)
    return Binary(value.op, a, b, value.dtype, value.span)


def _flag(cond: Expr, value: Expr, old: Load | Gather, holds: bool) -> Expr | None:
    """``old | cond`` for a single bit that becomes 1, ``old & not cond`` for one that becomes 0.

    That the bit has not changed yet need not be asked for then: ``if not done and c: done = 1`` is ``done |= c``.
    """
    if old.dtype != boolean or not isinstance(value, Const):
        return None
    taken = cond if holds else _opposite(cond)
    op = BinaryOp.OR if value.value else BinaryOp.AND
    return _changed_bit(op, value, taken, old)


def _changed_bit(op: BinaryOp, e: Expr, taken: Expr, old: Load | Gather) -> Expr | None:
    """``old | e`` or ``old & e``, where ``taken`` holds, of single bits; None where only the bit decides."""
    is_or = op is BinaryOp.OR
    still = _opposite(old) if is_or else old
    parts = [part for part in _parts(taken) if part != still]
    if not isinstance(e, Const):
        parts.append(e if is_or else _opposite(e))
    elif bool(e.value) is not is_or:
        return None  # it changes nothing
    if not parts:
        return None
    changes = reduce(_both, parts)
    return Binary(op, old, changes if is_or else _opposite(changes), boolean)


def _furthest(value: Binary, old: Load | Gather) -> Const | None:
    """The number of the element's type that a minimum or maximum never takes instead of another one.

    Of floats that holds where the element comes first: ``min(a, b)`` is ``b`` where ``a`` is not a number.
    """
    dtype, is_least = old.dtype, value.op is BinaryOp.MAX
    if value.dtype != dtype:
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
