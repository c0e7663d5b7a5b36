"""What each operation of the graph computes, on Python integers."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from backends.rtl.graph import FLOATS, Kind, Op
from dsl.expressions.numeric import from_float, to_float
from dsl.expressions.types import FloatType

_EXPONENT, _FRACTION, _SIGN = 0x7F800000, 0x007FFFFF, 0x80000000
_NAN = 0x7FC00000
_F32 = FloatType("f32")

_INTEGERS: dict[Kind, Callable[[int, int], int]] = {
    Kind.ADD: lambda a, b: a + b,
    Kind.SUB: lambda a, b: a - b,
    Kind.MUL: lambda a, b: a * b,
    Kind.AND: lambda a, b: a & b,
    Kind.OR: lambda a, b: a | b,
    Kind.XOR: lambda a, b: a ^ b,
    Kind.SHR: lambda a, b: a >> b,
    Kind.EQ: lambda a, b: a == b,
    Kind.NE: lambda a, b: a != b,
    Kind.LT: lambda a, b: a < b,
    Kind.LE: lambda a, b: a <= b,
}
_TESTS: dict[Kind, Callable[[float, float], bool]] = {
    Kind.FEQ: lambda a, b: a == b,
    Kind.FNE: lambda a, b: a != b,
    Kind.FLT: lambda a, b: a < b,
    Kind.FLE: lambda a, b: a <= b,
}


def operate(op: Op, x: list[int], flush: bool) -> int:
    """The result, not yet cut to the operation's width.

    Args:
        op: no access, nor one without operands.
        x: the operands as their uses read them.
        flush: subnormal floats are zero.

    A division by zero gives 0 here: nobody may look at the result.
    """
    kind = op.kind
    if kind in _INTEGERS:
        return _INTEGERS[kind](x[0], x[1])
    match kind:
        case Kind.SHL:
            return x[0] << min(x[1], op.width)
        case Kind.DIV:
            return _quotient(x[0], x[1])
        case Kind.FLOORDIV:
            return x[0] // x[1] if x[1] else 0
        case Kind.REM:
            return x[0] - x[1] * _quotient(x[0], x[1])
        case Kind.RESIZE:
            return x[0]
        case Kind.SELECT:
            return x[1] if x[0] else x[2]
        case Kind.TO_FLOAT:
            assert op.fixed is not None
            return _bits(to_float(x[0], op.fixed.frac, _F32), flush)
        case Kind.FROM_FLOAT:
            assert op.fixed is not None
            value = _value(x[0], flush)
            return from_float(value, op.fixed) if math.isfinite(value) else 0
        case _ if kind in FLOATS:
            return _floating(kind, x, flush)
    raise ValueError(f"{kind} is no operation on values")


def _quotient(a: int, b: int) -> int:
    if b == 0:
        return 0
    return abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))


def _value(bits: int, flush: bool) -> float:
    if flush and not bits & _EXPONENT:
        bits &= _SIGN
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def _bits(value: float, flush: bool) -> int:
    """The nearest binary32; a double between has enough digits not to disturb."""
    if math.isnan(value):
        return _NAN
    try:
        bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        bits = _EXPONENT | (_SIGN if value < 0 else 0)
    return bits & _SIGN if flush and not bits & _EXPONENT else bits


def _floating(kind: Kind, x: list[int], flush: bool) -> int:
    if kind is Kind.FNEG:
        return x[0] ^ _SIGN
    if kind is Kind.FABS:
        return x[0] & ~_SIGN
    values = [_value(v, flush) for v in x]
    if kind in _TESTS:
        return _TESTS[kind](values[0], values[1])
    return _bits(_arithmetic(kind, values), flush)


def _arithmetic(kind: Kind, x: list[float]) -> float:
    match kind:
        case Kind.FADD:
            return x[0] + x[1]
        case Kind.FSUB:
            return x[0] - x[1]
        case Kind.FMUL:
            return x[0] * x[1]
        case Kind.FDIV:
            return _divided(x[0], x[1])
        case Kind.FSQRT:
            return math.sqrt(x[0]) if x[0] >= 0 or x[0] == 0 else math.nan
        case Kind.FEXP:
            return math.inf if x[0] > 100 else math.exp(x[0])
    raise ValueError(f"{kind} is no arithmetic of floats")


def _divided(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)
