"""Ranges of fractions: of floats and fixed point, with ends that are exact numbers or infinite.

A float operation rounds what is exact to a number of its type, so that ends are rounded outwards: that holds one operation
by itself, and one that hardware fuses with the next. Values that are no numbers are in no range: Python raises an error
where it makes an integer of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dsl.expressions.expr import BinaryOp, CompareOp, Const, UnaryOp
from dsl.expressions.numeric import bounds
from dsl.expressions.types import DType, FixedType, FloatType

Real = Any
"""An exact number, an ``int`` or a ``Fraction``, or an infinite ``float``."""

RealRange = tuple[Real, Real]

EVERYTHING: RealRange = (-math.inf, math.inf)

_BITS = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
_LARGEST = {"bf16": 128, "f16": 16, "f32": 128, "f64": 1024}
"""The power of two that no finite number of the type reaches."""


def whole(dtype: DType) -> RealRange:
    """What a type of fractions holds."""
    if not isinstance(dtype, FixedType):
        return EVERYTHING
    low, high = bounds(dtype)
    return low * _unit(dtype), high * _unit(dtype)


def constant(const: Const) -> RealRange:
    """Of a constant."""
    number = const.value
    if isinstance(number, float) and not math.isfinite(number):
        return EVERYTHING if math.isnan(number) else (number, number)
    return Fraction(number), Fraction(number)


def converted(of: RealRange, dtype: DType) -> RealRange:
    """What values of a range are as values of a type of fractions, rounded in whichever way."""
    if isinstance(dtype, FixedType):
        least, most = whole(dtype)
        low, high = (_rounded(x, _unit(dtype), up) for x, up in zip(of, (False, True), strict=True))
        return (low, high) if least <= low and high <= most else (least, most)
    assert isinstance(dtype, FloatType)
    return _outward(of[0], dtype, False), _outward(of[1], dtype, True)


def binary(op: BinaryOp, a: RealRange, b: RealRange) -> RealRange | None:
    """Of an operation that is exact; None of one that is not known."""
    match op:
        case BinaryOp.ADD:
            return _sum(a[0], b[0], -math.inf), _sum(a[1], b[1], math.inf)
        case BinaryOp.SUB:
            return binary(BinaryOp.ADD, a, (-b[1], -b[0]))
        case BinaryOp.MUL:
            ends = [_product(x, y) for x in a for y in b]
            return min(ends), max(ends)
        case BinaryOp.DIV if b[0] > 0 or b[1] < 0:
            inverse = (_inverse(b[1]), _inverse(b[0]))
            return binary(BinaryOp.MUL, a, inverse)
        case BinaryOp.MIN:
            return min(a[0], b[0]), min(a[1], b[1])
        case BinaryOp.MAX:
            return max(a[0], b[0]), max(a[1], b[1])
        case _:
            return None


def unary(op: UnaryOp, of: RealRange) -> RealRange | None:
    """Of a function, exact; None of one that is not known."""
    low, high = of
    match op:
        case UnaryOp.NEG:
            return -high, -low
        case UnaryOp.ABS:
            return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
        case UnaryOp.SQRT if high >= 0:
            return _root(max(low, 0), False), _root(high, True)
        case UnaryOp.EXP:
            return 0, math.inf
        case UnaryOp.SIN | UnaryOp.COS | UnaryOp.TANH:
            return -1, 1
        case _:
            return None


def clipped(of: RealRange, op: CompareOp, other: RealRange, dtype: DType) -> RealRange:
    """Of values of a type that compare so with one of another range."""
    low, high = of
    match op:
        case CompareOp.LT:
            return low, min(high, _next(other[1], dtype, -1))
        case CompareOp.LE:
            return low, min(high, other[1])
        case CompareOp.GT:
            return max(low, _next(other[0], dtype, 1)), high
        case CompareOp.GE:
            return max(low, other[0]), high
        case CompareOp.EQ:
            return max(low, other[0]), min(high, other[1])
        case _:
            return of


def decided_reals(op: CompareOp, a: RealRange, b: RealRange) -> bool | None:
    """Whether all values of one range compare so with all of another (True), or none (False)."""
    match op:
        case CompareOp.LT:
            return True if a[1] < b[0] else False if a[0] >= b[1] else None
        case CompareOp.GE:
            below = decided_reals(CompareOp.LT, a, b)
            return None if below is None else not below
        case CompareOp.GT:
            return decided_reals(CompareOp.LT, b, a)
        case CompareOp.LE:
            return decided_reals(CompareOp.GE, b, a)
        case _:
            return None


def integers(of: RealRange, rounded: str) -> tuple[int, int] | None:
    """The integers that values of a range are, by ``floor``, ``ceil``, ``trunc`` or ``round``; None of infinite ranges."""
    if any(isinstance(x, float) for x in of):
        return None
    functions: dict[str, Callable[[Real], int]] = {
        "floor": math.floor,
        "ceil": math.ceil,
        "trunc": math.trunc,
        "round": round,
    }
    function = functions[rounded]
    return function(of[0]), function(of[1])


def _unit(dtype: FixedType) -> Fraction:
    return Fraction(1, 1 << dtype.frac) if dtype.frac >= 0 else Fraction(1 << -dtype.frac)


def _rounded(x: Real, unit: Fraction, up: bool) -> Real:
    if isinstance(x, float):
        return x
    return (math.ceil(x / unit) if up else math.floor(x / unit)) * unit


def _outward(x: Real, dtype: FloatType, up: bool) -> Real:
    if isinstance(x, float) or x == 0:
        return x
    power = _exponent(x)
    if power >= _LARGEST[dtype.name]:
        return math.inf if x > 0 else -math.inf
    found = _rounded(x, Fraction(2) ** (power + 1 - _BITS[dtype.name]), up)
    least = Fraction(2) ** (2 - _LARGEST[dtype.name])
    if abs(found) < least:  # below the normal numbers
        return (least if x > 0 else 0) if up else (0 if x > 0 else -least)
    return found


def _exponent(x: int | Fraction) -> int:
    """The power of two that is at most the absolute value."""
    size = abs(Fraction(x))
    power = size.numerator.bit_length() - size.denominator.bit_length()
    return power if size >= Fraction(2) ** power else power - 1


def _next(x: Real, dtype: DType, way: int) -> Real:
    """The number of a type next to one, below or above; not beyond that where it is none of the type."""
    if isinstance(x, float):
        return x
    if isinstance(dtype, FixedType):
        beside = _rounded(x, _unit(dtype), way < 0)
        return beside + way * _unit(dtype)
    if not isinstance(dtype, FloatType) or x == 0:
        return x
    power = _exponent(x)
    toward_zero = (way < 0) == (x > 0)
    is_power = abs(Fraction(x)) == Fraction(2) ** power
    unit = Fraction(2) ** (power + 1 - _BITS[dtype.name] - (toward_zero and is_power))
    return _rounded(x, unit, way < 0) + way * unit


def _sum(x: Real, y: Real, where: float) -> Real:
    found = x + y
    return where if isinstance(found, float) and math.isnan(found) else found


def _product(x: Real, y: Real) -> Real:
    return 0 if x == 0 or y == 0 else x * y


def _inverse(x: Real) -> Real:
    return 0 if isinstance(x, float) else Fraction(1) / x


def _root(x: Real, up: bool) -> Real:
    """The square root, or a number that is next to it on one side."""
    if isinstance(x, float):
        return x
    scale = 1 << 64
    size = Fraction(x) * scale * scale
    root = math.isqrt(math.floor(size))
    return Fraction(root if root * root == size or not up else root + 1, scale)
