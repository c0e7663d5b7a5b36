"""Exact arithmetic on arrays of raws: int64 where 64 bits hold a type, else Python integers.

The rules are those of `dsl.expressions.numeric`, for whole arrays. An array of a type that fits int64 has
dtype int64, any other has dtype object. An operation may also be done modulo 2**64 (``low``):
then everything is int64, and only the low 64 bits of the result mean anything, which is all that
a wrapping store of at most 64 bits looks at.
"""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from dsl.arrays.floats import round_to
from dsl.expressions import numeric
from dsl.expressions.expr import BinaryOp, CompareOp, UnaryOp
from dsl.expressions.numeric import Exact, Fault, FaultKind, bounds, frac_of, signed_of, width_of
from dsl.expressions.types import FixedType, FloatType, Overflow, Quant

Raws = NDArray[Any]
Truths = NDArray[np.bool_]


class ArrayFault(Fault):
    """A fault with the elements that have it (True there), of the shape of the operand."""

    def __init__(self, kind: FaultKind, where: Truths) -> None:
        super().__init__(kind)
        self.where = where


def require(good: Truths, kind: FaultKind) -> None:
    """Raise unless all elements are good."""
    if not good.all():
        raise ArrayFault(kind, ~good)


def fits(dtype: Exact) -> bool:
    """Whether int64 holds every raw of the type."""
    return width_of(dtype) <= (64 if signed_of(dtype) else 63)


def settle(raws: Raws, dtype: Exact) -> Raws:
    """Raws of that type in the array dtype that belongs to it."""
    return raws.astype(np.int64 if fits(dtype) else object, copy=False)


def low_bits(raws: Raws) -> Raws:
    """Raws modulo 2**64, as int64."""
    if raws.dtype == np.int64:
        return raws
    return wrap(raws, 64, True).astype(np.int64)


def wrap(raws: Raws, width: int, signed: bool) -> Raws:
    """The low ``width`` bits of each; what fits int64 comes as int64 from int64."""
    if raws.dtype == np.int64:
        if width < 64 and signed:
            return (raws << (64 - width)) >> (64 - width)
        if width < 64:
            return raws & ((1 << width) - 1)
        if width == 64 and signed:
            return raws
        raws = raws.astype(object)
    low: Raws = raws & ((1 << width) - 1)
    if signed:
        low = low - ((low >> (width - 1)) << width)
    return low


def quantize(raws: Raws, drop: int, mode: Quant) -> Raws:
    """``raws / 2**drop`` rounded by ``mode``; the caller sees to it that left shifts fit."""
    if drop <= 0:
        return raws << -drop if drop else raws
    if drop > 62 and raws.dtype == np.int64:
        raws = raws.astype(object)
    floor = raws >> drop
    if mode is Quant.TRN:
        return floor
    rest = raws - (floor << drop)
    half = 1 << (drop - 1)
    match mode:
        case Quant.TRN_ZERO:
            up = (raws < 0) & (rest != 0)
        case Quant.RND:
            up = rest >= half
        case Quant.RND_ZERO:
            up = (rest > half) | ((rest == half) & (raws < 0))
        case Quant.RND_INF:
            up = (rest > half) | ((rest == half) & (raws >= 0))
        case Quant.RND_MIN_INF:
            up = rest > half
        case Quant.RND_CONV:
            up = (rest > half) | ((rest == half) & ((floor & 1) == 1))
        case _:
            assert_never(mode)
    rounded: Raws = floor + up.astype(np.int64)
    return rounded


def limit(raws: Raws, dtype: FixedType) -> Raws:
    """Bring raws into range by the type's overflow mode."""
    if dtype.overflow is Overflow.WRAP:
        return wrap(raws, dtype.width, dtype.signed)
    low, high = bounds(dtype)
    if dtype.overflow is Overflow.SAT_SYM and dtype.signed:
        low |= 1
    if not fits(dtype):
        raws = raws.astype(object)
    if dtype.overflow is Overflow.SAT_ZERO:
        return np.where((raws >= low) & (raws <= high), raws, 0)
    limited: Raws = np.minimum(np.maximum(raws, low), high)
    return limited


def convert(raws: Raws, source: Exact, target: Exact) -> Raws:
    """Raws of ``source`` assigned to ``target``; between equal types nothing changes."""
    if source == target:
        return settle(raws, target)
    frac = frac_of(source)
    drop = frac - frac_of(target)
    if drop < 0 and width_of(source) - drop > 62:
        raws = raws.astype(object)
    if isinstance(target, FixedType):
        return settle(limit(quantize(raws, drop, target.quant), target), target)
    whole = quantize(raws, drop, Quant.TRN_ZERO)
    return settle(wrap(whole, width_of(target), signed_of(target)), target)


def keeps_low_bits(source: Exact, target: Exact) -> bool:
    """Whether assigning to ``target`` needs only the low 64 bits of a ``source``."""
    drop = frac_of(source) - frac_of(target)
    if isinstance(target, FixedType):
        if target.overflow is not Overflow.WRAP:
            return False
        return drop <= 0 or (target.quant is Quant.TRN and width_of(target) + drop <= 64)
    return drop == 0


def convert_low(raws: Raws, source: Exact, target: Exact) -> Raws:
    """`convert` of raws known modulo 2**64, where `keeps_low_bits`; also modulo 2**64.

    A type of less than 64 bits comes out exact.
    """
    drop = frac_of(source) - frac_of(target)
    if drop > 0:
        raws = raws >> drop
    elif drop < 0:
        raws = raws << -drop if drop > -64 else np.zeros_like(raws)
    width = width_of(target)
    return wrap(raws, width, signed_of(target)) if width < 64 else raws


def binary(op: BinaryOp, a: Raws, ta: Exact, b: Raws, tb: Exact, result: Exact, low: bool) -> Raws:
    """``a op b`` as raws of ``result``; modulo 2**64 if ``low`` (ring operators only).

    Raises:
        ArrayFault: division by zero, a negative shift amount.
    """
    if not (low or (fits(ta) and fits(tb) and fits(result))):
        a, b = a.astype(object), b.astype(object)
    match op:
        case BinaryOp.MUL:
            value = a * b
        case BinaryOp.DIV:
            value = _divide(a, ta, b, tb)
        case BinaryOp.FLOORDIV | BinaryOp.MOD:
            require(b != 0, FaultKind.DIVISION_BY_ZERO)
            value = a // b if op is BinaryOp.FLOORDIV else a % b
        case BinaryOp.SHL | BinaryOp.SHR:
            value = _shift(op, a, b, result, low)
        case BinaryOp.AND:
            value = a & b
        case BinaryOp.OR:
            value = a | b
        case BinaryOp.XOR:
            value = a ^ b
        case BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MIN | BinaryOp.MAX:
            frac = frac_of(result)
            value = _aligned(op, _up(a, frac - frac_of(ta)), _up(b, frac - frac_of(tb)))
        case _:
            assert_never(op)
    return value if low else settle(value, result)


def _up(raws: Raws, shift: int) -> Raws:
    if shift == 0:
        return raws
    return np.zeros_like(raws) if shift > 63 and raws.dtype == np.int64 else raws << shift


def _aligned(op: BinaryOp, a: Raws, b: Raws) -> Raws:
    match op:
        case BinaryOp.ADD:
            return a + b
        case BinaryOp.SUB:
            return a - b
        case BinaryOp.MIN:
            return np.where(b < a, b, a)
        case _:
            return np.where(b > a, b, a)


def _divide(a: Raws, ta: Exact, b: Raws, tb: Exact) -> Raws:
    require(b != 0, FaultKind.DIVISION_BY_ZERO)
    up = max(frac_of(tb), 0)
    if width_of(ta) + up > 62 or width_of(tb) > 62:
        a, b = a.astype(object), b.astype(object)
    quotient = abs(a << up) // abs(b)
    same = wrap(quotient, numeric.division_width(ta, tb), True) if signed_of(ta) else quotient
    return np.where((a < 0) == (b < 0), same, -quotient)


def _shift(op: BinaryOp, a: Raws, amount: Raws, result: Exact, low: bool) -> Raws:
    require(amount >= 0, FaultKind.NEGATIVE_SHIFT)
    width = width_of(result)
    amount = np.minimum(amount, width)
    if op is BinaryOp.SHR:
        return a >> (np.minimum(amount, 63) if a.dtype == np.int64 else amount)
    if a.dtype == np.int64:
        amount = amount.astype(np.int64)
        value = np.where(amount > 63, 0, a << np.minimum(amount, 63))
    else:
        value = a << amount.astype(object)
    if low and width >= 64:
        return value
    return wrap(value, width, signed_of(result))


def unary(op: UnaryOp, a: Raws, source: Exact, result: Exact, low: bool) -> Raws:
    """``op a`` as raws of ``result``; modulo 2**64 if ``low`` (ring operators only)."""
    if not (low or (fits(source) and fits(result))):
        a = a.astype(object)
    match op:
        case UnaryOp.NEG:
            value = -a
        case UnaryOp.ABS:
            value = abs(a.astype(object)) if width_of(source) >= 64 else abs(a)
        case UnaryOp.NOT:
            value = 1 - a
        case UnaryOp.INVERT:
            value = -1 - a
            if not (low and width_of(result) >= 64):
                value = wrap(value, width_of(result), signed_of(result))
        case UnaryOp.SQRT | UnaryOp.EXP | UnaryOp.LOG | UnaryOp.TANH | UnaryOp.SIN | UnaryOp.COS:
            raise TypeError(f"{op.value} of an exact type")
        case _:
            assert_never(op)
    return value if low else settle(value, result)


def compare(op: CompareOp, a: Raws, ta: Exact, b: Raws, tb: Exact) -> Truths:
    """Compare by exact value."""
    frac = max(frac_of(ta), frac_of(tb))
    up_a, up_b = frac - frac_of(ta), frac - frac_of(tb)
    if max(width_of(ta) + up_a, width_of(tb) + up_b) > 62:
        a, b = a.astype(object), b.astype(object)
    return compared(op, a << up_a, b << up_b)


def compared(op: CompareOp, a: NDArray[Any], b: NDArray[Any]) -> Truths:
    """``a op b``, element by element."""
    result: Any
    match op:
        case CompareOp.EQ:
            result = a == b
        case CompareOp.NE:
            result = a != b
        case CompareOp.LT:
            result = a < b
        case CompareOp.LE:
            result = a <= b
        case CompareOp.GT:
            result = a > b
        case CompareOp.GE:
            result = a >= b
        case _:
            assert_never(op)
    return np.asarray(result, dtype=np.bool_)


def to_float(raws: Raws, source: Exact, target: FloatType) -> NDArray[Any]:
    """Raws as the nearest floats, ties to even."""
    frac = frac_of(source)
    if width_of(source) <= 53 and -900 < frac < 900:  # exact in float64
        return round_to(np.ldexp(raws.astype(np.float64), -frac), target)
    values = [numeric.to_float(int(raw), frac, target) for raw in raws.ravel().tolist()]
    return round_to(np.array(values, dtype=np.float64).reshape(raws.shape), target)


def from_float(values: NDArray[Any], target: Exact) -> Raws:
    """Floats assigned to an exact type.

    Raises:
        ArrayFault: an infinity or a NaN.
    """
    values = np.asarray(values, dtype=np.float64)
    require(np.isfinite(values), FaultKind.NOT_FINITE)
    frac = frac_of(target)
    if width_of(target) <= 53 and 0 <= frac <= 53 and (np.abs(values) < 2.0 ** (57 - frac)).all():
        raws = _with_sticky_bits(np.ldexp(values, frac))
        whole = quantize(raws, 3, target.quant if isinstance(target, FixedType) else Quant.TRN_ZERO)
        if isinstance(target, FixedType):
            return limit(whole, target)
        return wrap(whole, width_of(target), signed_of(target))
    flat = [numeric.from_float(v, target) for v in values.ravel().tolist()]
    result = np.empty(len(flat), dtype=object)
    result[:] = flat
    return settle(result.reshape(values.shape), target)


def _with_sticky_bits(values: NDArray[Any]) -> Raws:
    """Floats below 2**57 in eighths; the last digit tells whether there is more below it."""
    magnitude = np.abs(values)
    floor = np.floor(magnitude)
    quarters = np.ldexp(magnitude - floor, 2)
    tail = np.floor(quarters)
    eighths = floor.astype(np.int64) * 8 + tail.astype(np.int64) * 2 + (quarters != tail)
    signed: Raws = np.where(values < 0, -eighths, eighths)
    return signed
