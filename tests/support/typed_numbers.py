"""Numbers that know what they are: the arithmetic of the language, computed by Python alone.

Exact numbers are fractions; floats are NumPy's, of one type in each operation. What an assignment does to a value
is computed here from the definition of ``ap_fixed``'s modes (UG1399), not by Weft's own conversions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dsl.expressions.types import (
    DType,
    FixedType,
    FloatType,
    IntType,
    Overflow,
    Quant,
)

FLOATS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_RANK = {"f16": 0, "f32": 1, "f64": 2}


class NotFiniteError(Exception):
    """A float became infinite or NaN: what comes of it later is not compared."""


@dataclass(frozen=True, slots=True)
class Val:
    """A fraction with so many bits right of the point, or a float of NumPy with the name of its type."""

    v: Any
    frac: int = 0
    float: str = ""
    dtype: DType | None = None

    __array_ufunc__ = None

    def _with(self, other: Any, op: Any, frac: int | None = None) -> Any:
        if isinstance(other, np.ndarray):
            return np.frompyfunc(lambda e: op(self, e), 1, 1)(other)
        return op(self, other)

    def __add__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _arith(a, b, lambda p, q: p + q))

    def __radd__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _arith(b, a, lambda p, q: p + q))

    def __sub__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _arith(a, b, lambda p, q: p - q))

    def __rsub__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _arith(b, a, lambda p, q: p - q))

    def __mul__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _arith(a, b, lambda p, q: p * q, product=True))

    __rmul__ = __mul__

    def __truediv__(self, o: Any) -> Any:
        return self._with(o, _divided)

    def __rtruediv__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _divided(b, a))

    def __floordiv__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: Val(Fraction(_int(a) // _int(b))))

    def __rfloordiv__(self, o: Any) -> Any:
        return Val(Fraction(_int(o) // _int(self)))

    def __mod__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: Val(Fraction(_int(a) % _int(b))))

    def __rmod__(self, o: Any) -> Any:
        return Val(Fraction(_int(o) % _int(self)))

    def __and__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: Val(Fraction(_int(a) & _int(b))))

    __rand__ = __and__

    def __or__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: Val(Fraction(_int(a) | _int(b))))

    __ror__ = __or__

    def __xor__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: Val(Fraction(_int(a) ^ _int(b))))

    __rxor__ = __xor__

    def __lshift__(self, o: Any) -> Any:
        return Val(self.v * 2 ** _int(o), self.frac)

    def __rlshift__(self, o: Any) -> Any:
        return Val(Fraction(o) * 2 ** _int(self))

    def __rshift__(self, o: Any) -> Any:
        if isinstance(self.dtype, FixedType):
            return Val(self.v / 2 ** _int(o), self.frac + _int(o))
        return Val(Fraction(_int(self) >> _int(o)))

    def __neg__(self) -> Val:
        return Val(-self.v, self.frac, self.float)

    def __abs__(self) -> Val:
        return Val(abs(self.v), self.frac, self.float)

    def __invert__(self) -> Val:
        assert isinstance(self.dtype, IntType)
        mask = (1 << self.dtype.width) - 1
        return Val(Fraction(-_int(self) - 1 if self.dtype.signed else mask - _int(self)))

    def __bool__(self) -> bool:
        return bool(self.v != 0)

    def __index__(self) -> int:
        return _int(self)

    def __lt__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _compared(a, b, lambda p, q: p < q))

    def __le__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _compared(a, b, lambda p, q: p <= q))

    def __gt__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _compared(a, b, lambda p, q: p > q))

    def __ge__(self, o: Any) -> Any:
        return self._with(o, lambda a, b: _compared(a, b, lambda p, q: p >= q))

    def __eq__(self, o: object) -> Any:
        return self._with(o, lambda a, b: _compared(a, b, lambda p, q: p == q))

    def __ne__(self, o: object) -> Any:
        return self._with(o, lambda a, b: _compared(a, b, lambda p, q: p != q))

    __hash__ = None  # type: ignore[assignment]


def _int(x: Any) -> int:
    v = Fraction(x.v if isinstance(x, Val) else int(x))
    assert v.denominator == 1
    return int(v)


def both(a: Any, b: Any) -> tuple[Any, Any, str]:
    """Two operands as numbers of one kind, and the name of the float type or nothing."""
    names = [x.float for x in (a, b) if isinstance(x, Val) and x.float]
    if names:
        name = max(names, key=_RANK.__getitem__)
        return as_float(a, name), as_float(b, name), name
    return _fraction(a), _fraction(b), ""


def _fraction(x: Any) -> Fraction:
    return x.v if isinstance(x, Val) else Fraction(x)


def frac_of(x: Any) -> int:
    return x.frac if isinstance(x, Val) else max(0, Fraction(x).denominator.bit_length() - 1)


def as_float(x: Any, name: str) -> Any:
    """A number as a float of that type."""
    kind = FLOATS[name]
    if isinstance(x, Val):
        return kind(x.v) if x.float else kind(float(x.v))
    return kind(x)


def _arith(a: Any, b: Any, op: Any, *, product: bool = False) -> Val:
    p, q, name = both(a, b)
    if not name:
        return Val(op(p, q), frac_of(a) + frac_of(b) if product else max(frac_of(a), frac_of(b)))
    return finite(op(p, q), name)


def finite(v: Any, name: str) -> Val:
    if not math.isfinite(v):
        raise NotFiniteError
    return Val(FLOATS[name](v), 0, name)


def _divided(a: Any, b: Any) -> Val:
    p, q, name = both(a, b)
    if name:
        return finite(p / q, name)
    frac = frac_of(a) if isinstance(a, Val) else max(frac_of(a), frac_of(b))
    unit = Fraction(2) ** frac
    return Val(math.trunc(p / q * unit) / unit, frac)


def _compared(a: Any, b: Any, op: Any) -> bool:
    p, q, _ = both(a, b)
    return bool(op(p, q))


# ------------------------------------------------------------------------------------ conversion


def stored(dtype: DType, x: Any) -> Val:
    """What an element of that type holds after an assignment."""
    match dtype:
        case FloatType(name):
            return Val(finite(as_float(x, name), name).v, 0, name, dtype)
        case IntType(width, signed):
            return Val(Fraction(_wrapped(math.trunc(_value(x)), width, signed)), 0, "", dtype)
        case FixedType():
            raw = _overflowed(_quantised(_value(x) * Fraction(2) ** dtype.frac, dtype.quant), dtype)
            return Val(Fraction(raw) / Fraction(2) ** dtype.frac, dtype.frac, "", dtype)
    raise AssertionError(dtype)


def _value(x: Any) -> Fraction:
    return Fraction(float(x.v)) if isinstance(x, Val) and x.float else _fraction(x)


def _wrapped(v: int, width: int, signed: bool) -> int:
    v %= 1 << width
    return v - (1 << width) if signed and v >> width - 1 else v


def _quantised(v: Fraction, mode: Quant) -> int:
    low = math.floor(v)
    rest = v - low
    half = Fraction(1, 2)
    match mode:
        case Quant.TRN:
            return low
        case Quant.TRN_ZERO:
            return math.trunc(v)
        case Quant.RND:
            return low + (rest >= half)
        case Quant.RND_MIN_INF:
            return low + (rest > half)
        case Quant.RND_ZERO:
            return low + (rest > half or (rest == half and v < 0))
        case Quant.RND_INF:
            return low + (rest > half or (rest == half and v > 0))
        case Quant.RND_CONV:
            return low + (rest > half or (rest == half and low % 2 == 1))
    raise AssertionError(mode)


def _overflowed(raw: int, dtype: FixedType) -> int:
    width, signed = dtype.width, dtype.signed
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    if dtype.overflow is Overflow.SAT_SYM and signed:
        low = -high
    if low <= raw <= high:
        return raw
    match dtype.overflow:
        case Overflow.WRAP:
            return _wrapped(raw, width, signed)
        case Overflow.SAT_ZERO:
            return 0
        case _:
            return low if raw < low else high
