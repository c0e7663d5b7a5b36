"""Exact arithmetic of the data types on single values: what every other level must agree with.

An integer is itself, a fixed-point number its raw integer (see `dsl.expressions.types.FixedType`), a float a
Python float that its type can represent. Any width. The rules are those of ``ap_int`` and
``ap_fixed`` of Vitis HLS, except ``//`` and ``%``, which are Python's.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import assert_never

from dsl.expressions.expr import BinaryOp, CompareOp, UnaryOp
from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType, Overflow, Quant

Exact = IntType | FixedType | IndexType
"""The types whose arithmetic is exact."""

_FLOAT_FORMATS = {  # significand bits, exponents of the smallest and the largest normal number
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}


class FaultKind(Enum):
    """What a program may not do when it runs; the value is the sentence for people."""

    DIVISION_BY_ZERO = "division by zero"
    NEGATIVE_SHIFT = "the shift amount is negative"
    NOT_FINITE = "a float that is infinite or not a number has no integer or fixed-point value"
    UNINITIALISED = "reads an element of a local that was never written"
    OUT_OF_BOUNDS = "an access is out of bounds"


class Fault(ArithmeticError):
    """Raised by the arithmetic below; `dsl.interp` adds the statement and the iteration."""

    def __init__(self, kind: FaultKind, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail


def width_of(dtype: Exact) -> int:
    """Bits of the two's-complement integer; an index counts as ``i32``."""
    return 32 if isinstance(dtype, IndexType) else dtype.width


def signed_of(dtype: Exact) -> bool:
    """Whether values may be negative."""
    return True if isinstance(dtype, IndexType) else dtype.signed


def frac_of(dtype: Exact) -> int:
    """Bits right of the binary point; 0 for integers, may be negative for fixed point."""
    return dtype.frac if isinstance(dtype, FixedType) else 0


def bounds(dtype: Exact) -> tuple[int, int]:
    """The smallest and the largest raw value."""
    width = width_of(dtype)
    if signed_of(dtype):
        return -(1 << (width - 1)), (1 << (width - 1)) - 1
    return 0, (1 << width) - 1


def wrap(value: int, width: int, signed: bool) -> int:
    """The low ``width`` bits, read as two's complement if ``signed``."""
    value &= (1 << width) - 1
    if signed and value >> (width - 1):
        value -= 1 << width
    return value


def quantize(raw: int, drop: int, mode: Quant) -> int:
    """``raw / 2**drop`` as an integer, rounded by ``mode``; exact where ``drop <= 0``."""
    if drop <= 0:
        return raw << -drop
    floor = raw >> drop
    rest = raw - (floor << drop)
    half = 1 << (drop - 1)
    match mode:
        case Quant.TRN:
            up = False
        case Quant.TRN_ZERO:
            up = raw < 0 and rest != 0
        case Quant.RND:
            up = rest >= half
        case Quant.RND_ZERO:
            up = rest > half or (rest == half and raw < 0)
        case Quant.RND_INF:
            up = rest > half or (rest == half and raw >= 0)
        case Quant.RND_MIN_INF:
            up = rest > half
        case Quant.RND_CONV:
            up = rest > half or (rest == half and floor & 1 == 1)
        case _:
            assert_never(mode)
    return floor + up


def limit(value: int, dtype: FixedType) -> int:
    """Bring a raw value into range by the type's overflow mode."""
    low, high = bounds(dtype)
    if dtype.overflow is Overflow.SAT_SYM and dtype.signed:
        low |= 1  # ap_fixed: -(2**(w-1) - 1), and -1 where there is only the sign bit
    if low <= value <= high:
        return value
    match dtype.overflow:
        case Overflow.WRAP:
            return wrap(value, dtype.width, dtype.signed)
        case Overflow.SAT | Overflow.SAT_SYM:
            return low if value < low else high
        case Overflow.SAT_ZERO:
            return 0
        case _:
            assert_never(dtype.overflow)


def convert(raw: int, frac: int, target: Exact) -> int:
    """The value ``raw / 2**frac`` assigned to ``target``: its raw.

    An integer target cuts towards zero and wraps; a fixed one quantises, then handles overflow.
    An assignment between equal types changes nothing, as a C++ copy: not even the smallest raw,
    which ``SAT_SYM`` would not let in otherwise. Whoever converts looks for that first.
    """
    if isinstance(target, FixedType):
        return limit(quantize(raw, frac - target.frac, target.quant), target)
    whole = quantize(raw, frac, Quant.TRN_ZERO) if frac else raw
    return wrap(whole, width_of(target), signed_of(target))


def from_float(value: float, target: Exact) -> int:
    """A float assigned to an integer (towards zero, then wraps) or fixed-point type: its raw."""
    if not math.isfinite(value):
        raise Fault(FaultKind.NOT_FINITE)
    numerator, denominator = value.as_integer_ratio()
    return convert(numerator, denominator.bit_length() - 1, target)


def to_float(raw: int, frac: int, target: FloatType) -> float:
    """``raw / 2**frac`` rounded to ``target``, ties to even; too large is infinite."""
    if raw == 0:
        return 0.0
    precision, smallest, largest = _FLOAT_FORMATS[target.name]
    magnitude = abs(raw)
    top = magnitude.bit_length() - frac  # 2**(top-1) <= value < 2**top
    lsb = max(top, smallest + 1) - precision
    digits = quantize(magnitude, frac + lsb, Quant.RND_CONV)
    if digits.bit_length() + lsb > largest + 1:
        return -math.inf if raw < 0 else math.inf
    return math.copysign(math.ldexp(digits, lsb), -1 if raw < 0 else 1)


def round_float(value: float, target: FloatType) -> float:
    """A double rounded to ``target``, ties to even."""
    if target.name == "f64" or value == 0 or not math.isfinite(value):
        return value
    numerator, denominator = value.as_integer_ratio()
    return to_float(numerator, denominator.bit_length() - 1, target)


def exact_binary(op: BinaryOp, a: int, ta: Exact, b: int, tb: Exact, result: Exact) -> int:
    """``a op b`` of two raws as the raw of ``result``, the type that `dsl.expressions.typing` gave it.

    Raises:
        Fault: division by zero, or a negative shift amount.
    """
    match op:
        case BinaryOp.MUL:
            return a * b
        case BinaryOp.DIV:
            return _divide(a, ta, b, tb)
        case BinaryOp.FLOORDIV | BinaryOp.MOD:
            if b == 0:
                raise Fault(FaultKind.DIVISION_BY_ZERO)
            return a // b if op is BinaryOp.FLOORDIV else a % b
        case BinaryOp.SHL | BinaryOp.SHR:
            return _shift(op, a, b, result)
        case BinaryOp.AND:
            return a & b
        case BinaryOp.OR:
            return a | b
        case BinaryOp.XOR:
            return a ^ b
        case BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MIN | BinaryOp.MAX:
            frac = frac_of(result)
            return _aligned(op, a << (frac - frac_of(ta)), b << (frac - frac_of(tb)))
        case _:
            assert_never(op)


def _aligned(op: BinaryOp, a: int, b: int) -> int:
    match op:
        case BinaryOp.ADD:
            return a + b
        case BinaryOp.SUB:
            return a - b
        case BinaryOp.MIN:
            return b if b < a else a
        case _:
            return b if b > a else a


def division_width(a: Exact, b: Exact) -> int:
    """Bits in which ``ap_fixed`` divides two signed raws.

    They are too few for one quotient, that of the smallest dividend by the raw -1, which wraps.
    """
    mixed = signed_of(a) != signed_of(b)
    dividend = width_of(a) + max(frac_of(b), 0) + (mixed and signed_of(b))
    return max(dividend, width_of(b) + (mixed and signed_of(a)))


def _divide(a: int, ta: Exact, b: int, tb: Exact) -> int:
    if b == 0:
        raise Fault(FaultKind.DIVISION_BY_ZERO)
    quotient = abs(a << max(frac_of(tb), 0)) // abs(b)
    if (a < 0) == (b < 0):
        signed = signed_of(ta) or signed_of(tb)
        return wrap(quotient, division_width(ta, tb), True) if signed else quotient
    return -quotient


def _shift(op: BinaryOp, a: int, amount: int, result: Exact) -> int:
    if amount < 0:
        raise Fault(FaultKind.NEGATIVE_SHIFT, f"it is {amount}")
    width = width_of(result)
    amount = min(amount, width)
    return a >> amount if op is BinaryOp.SHR else wrap(a << amount, width, signed_of(result))


def exact_unary(op: UnaryOp, a: int, result: Exact) -> int:
    """``op a`` of a raw as the raw of ``result``; the functions of floats are not among them."""
    match op:
        case UnaryOp.NEG:
            return -a
        case UnaryOp.ABS:
            return abs(a)
        case UnaryOp.NOT:
            return 1 - a
        case UnaryOp.INVERT:
            return wrap(~a, width_of(result), signed_of(result))
        case UnaryOp.SQRT | UnaryOp.EXP | UnaryOp.LOG | UnaryOp.TANH | UnaryOp.SIN | UnaryOp.COS:
            raise TypeError(f"{op.value} of an exact type")
        case _:
            assert_never(op)


def exact_compare(op: CompareOp, a: int, frac_a: int, b: int, frac_b: int) -> bool:
    """Compare ``a / 2**frac_a`` with ``b / 2**frac_b`` by value."""
    frac = max(frac_a, frac_b)
    return compared(op, a << (frac - frac_a), b << (frac - frac_b))


def compared(op: CompareOp, a: float, b: float) -> bool:
    """``a op b`` as Python has it (comparisons with a NaN are false, but for ``!=``)."""
    match op:
        case CompareOp.EQ:
            return a == b
        case CompareOp.NE:
            return a != b
        case CompareOp.LT:
            return a < b
        case CompareOp.LE:
            return a <= b
        case CompareOp.GT:
            return a > b
        case CompareOp.GE:
            return a >= b
        case _:
            assert_never(op)


def is_exact(dtype: DType) -> bool:
    """Integers, fixed point and indices: everything but floats."""
    return not isinstance(dtype, FloatType)
