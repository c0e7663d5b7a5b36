"""The value of an assignment that happens only where a condition on data holds.

Hardware computes both sides of a choice, so that ``if c: t = e`` is the assignment ``t = e if c else t``.
Two things are done on the way:

- What may fail where the condition does not hold, and would not run there, is given operands with which it
  cannot: a divisor of 1, an amount of 0 for a shift, a finite value for a conversion (`harmless`).
- Updates keep their form (`dsl.expressions.updates`). ``if c: t += e`` is ``t += e if c else 0``, whose recurrence is the sum alone and
  which can be reassociated; ``if e < t: t = e`` is ``t = min(t, e)``, with another condition around it
  ``t = min(t, e if c else the largest number)``; ``if c: flag = 1`` is ``flag |= c``.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from dsl.expressions import typing
from dsl.expressions.choices import either, opposite, parts_of
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
    loads,
    walk,
)
from dsl.expressions.limits import limits
from dsl.expressions.numeric import frac_of, signed_of, width_of
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, boolean
from dsl.expressions.updates import updated


def guarded(
    cond: Expr,
    value: Expr,
    old: Load | Gather,
    holds: bool = True,
    written: Expr | None = None,
    about: Expr | None = None,
    moved: Collection[str] = (),
) -> Expr:
    """What to assign everywhere instead of ``value`` where ``cond`` is ``holds``.

    Args:
        cond: A ``u1``.
        value: The value that is assigned, as `dsl.expressions.typing.assigned` gave it.
        old: The element that is assigned.
        holds: What the condition is where the assignment happens.
        written: What the condition was computed from, where it is kept and nothing of that is changed yet.
        about: What the condition was computed from, where it is kept, whatever has changed since.
        moved: See `harmless`.

    Returns:
        A value of the element's type, or one that the store converts to it as ``value``.
    """
    if isinstance(value, Scatter):
        old = Gather(value.access, value.data, old.dtype)
        kept = harmless(old, cond, holds, about, moved)
        assert isinstance(kept, Gather)
        inside = guarded(cond, value.value, kept, holds, written, about, moved)
        return Scatter(kept.access, kept.data, inside)
    value = harmless(value, cond, holds, about, moved)
    if (found := updated(cond, value, old, holds, written)) is not None:
        return found
    return either(cond, holds, typing.cast(old.dtype, value), old)


def chosen(cond: Expr, then: Expr, orelse: Expr, dtype: DType, about: Expr | None = None) -> Expr:
    """What to assign to an element of type ``dtype`` that is ``then`` or ``orelse`` by ``cond``; see `guarded`."""
    a, b = harmless(then, cond, True, about), harmless(orelse, cond, False, about)
    if isinstance(a, Scatter) and isinstance(b, Scatter):
        value = either(cond, True, typing.cast(dtype, a.value), typing.cast(dtype, b.value))
        data = (
            d if d == e else either(cond, True, d, e) for d, e in zip(a.data, b.data, strict=True)
        )
        return Scatter(a.access, tuple(data), value)
    found = either(cond, True, typing.cast(dtype, a), typing.cast(dtype, b))
    return limits(found) if isinstance(found, Select) else found


def harmless(
    expr: Expr,
    cond: Expr,
    holds: bool,
    about: Expr | None = None,
    moved: Collection[str] = (),
) -> Expr:
    """``expr``, of which only the value where ``cond`` is ``holds`` is used, unable to fail elsewhere.

    Where it is used the value is the same. A subscript that is data is 0 where it is not used and the
    condition is about it: ``t[n] if n < 16 else 0`` reads inside of ``t`` always. Of a condition that is kept
    in a scalar, ``about`` is what it was computed from. Scalars that are ``moved`` where the condition is not ``holds``
    are no subscripts there.
    """
    told = cond if about is None else about

    def inside(x: Expr) -> Expr:
        return harmless(x, cond, holds, about, moved)

    def instead(x: Expr, other: Const) -> Expr:
        return x if _is_guarded(x, cond, holds, other) else either(cond, holds, x, other)

    match expr:
        case Const() | Load() | Index():
            return expr
        case Gather(access, data, dtype):
            subscripts = (
                instead(d, Const(0, IntType(32) if isinstance(d.dtype, IndexType) else d.dtype))
                if (_compares(told, d) and not _is_kept(d, told, holds))
                or _is_by_flag(d)
                or _reads(d, moved)
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


def _reads(x: Expr, names: Collection[str]) -> bool:
    return bool(names) and any(access.array in names for access in loads(x))


def _compares(cond: Expr, x: Expr) -> bool:
    """Whether the condition compares that value or one that it is made of, as one does to keep it
    inside of an array. One that a mask or a remainder keeps there needs no condition.
    """
    masked = isinstance(x, Binary) and x.op in (BinaryOp.AND, BinaryOp.MOD)
    made_of = [x] if masked else [part for part in walk(x) if not isinstance(part, Const | Index)]
    return any(
        isinstance(part, Compare)
        and any(s in made_of for side in (part.lhs, part.rhs) for s in (side, _moving(side)))
        for part in walk(cond)
    )


def _moving(x: Expr) -> Expr:
    """A value without the constants that are added to it: ``at + 2 <= 64`` says something of ``at``."""
    match x:
        case Binary(BinaryOp.ADD | BinaryOp.SUB, a, Const()) | Binary(BinaryOp.ADD, Const(), a):
            return _moving(a)
        case Cast(a, IntType()):
            return _moving(a)
        case _:
            return x


def _is_guarded(x: Expr, cond: Expr, holds: bool, other: Const) -> bool:
    """Whether it is ``other`` already where the condition is not ``holds``."""
    if not isinstance(x, Select):
        return False
    taken, left = (x.then, x.orelse) if holds else (x.orelse, x.then)
    if x.cond == cond:
        return left == other
    if x.orelse == other and (cond if holds else opposite(cond)) in parts_of(x.cond):
        return True
    return any(
        b == other and _is_guarded(a, cond, holds, other) for a, b in ((taken, left), (left, taken))
    )


def _is_kept(x: Expr, cond: Expr, holds: bool) -> bool:
    """Whether a subscript is 0 already where what the condition says of it alone does not hold."""
    if not isinstance(x, Select) or not isinstance(x.orelse, Const) or x.orelse.value != 0:
        return False
    told = (p for p in parts_of(cond if holds else opposite(cond)) if _compares(p, x.then))
    return all(p in parts_of(x.cond) or _is_either(p) for p in told)


def _is_by_flag(x: Expr) -> bool:
    """Whether a subscript is 0 where a condition that is kept in a scalar does not hold.

    What it is made of may have changed since, where the conditions around hold as well: ``if c: if n > 0: n -= 1; t[n]``.
    """
    if not isinstance(x, Select) or not isinstance(x.orelse, Const) or x.orelse.value != 0:
        return False
    return any(isinstance(p, Load) and p.dtype == boolean for p in walk(x.cond))


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
