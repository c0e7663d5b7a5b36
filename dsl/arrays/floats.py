"""Float arithmetic on NumPy arrays and scalars: every result rounded once, to nearest even.

bf16 is held in float32 whose low 16 bits are zero. A sum, difference, product, quotient or square
root that is computed in the next wider format and then rounded is correctly rounded, because that
format has at least twice the digits and two more (Figueroa, "When is double rounding innocuous?").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsl.expressions.expr import BinaryOp, UnaryOp
from dsl.expressions.types import FloatType

FloatArray = NDArray[Any]

HOLDS: dict[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.float32),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}


def round_bf16(x: FloatArray) -> FloatArray:
    """float32 rounded to bf16, ties to even; a NaN stays one."""
    x = np.asarray(x, dtype=np.float32)
    bits = x.view(np.uint32)
    rounded = bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))
    result = (rounded & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isnan(x), np.float32(np.nan), result)


def _to_odd_f32(x: FloatArray) -> FloatArray:
    """float64 to float32, inexact results to the neighbour with an odd last digit.

    Rounding that once more, to fewer digits, gives what rounding at once would have given.
    """
    near = x.astype(np.float32)
    back = near.astype(np.float64)
    too_far = np.abs(back) > np.abs(x)
    toward_zero = np.where(too_far, np.nextafter(near, np.float32(0)), near)
    odd = np.where(back != x, toward_zero.view(np.uint32) | np.uint32(1), near.view(np.uint32))
    return np.where(np.isfinite(x), odd.astype(np.uint32).view(np.float32), near)


def round_to(x: FloatArray, target: FloatType) -> FloatArray:
    """A float array or scalar of any format as ``target``."""
    x = np.asarray(x)
    if target.name != "bf16":
        return x.astype(HOLDS[target.name], copy=False)
    return round_bf16(_to_odd_f32(x) if x.dtype == np.float64 else x.astype(np.float32))


def _min(a: Any, b: Any) -> Any:
    return np.where(b < a, b, a)


def _max(a: Any, b: Any) -> Any:
    return np.where(b > a, b, a)


_BINARY: dict[BinaryOp, Callable[[Any, Any], Any]] = {
    BinaryOp.ADD: np.add,
    BinaryOp.SUB: np.subtract,
    BinaryOp.MUL: np.multiply,
    BinaryOp.DIV: np.divide,
    BinaryOp.MIN: _min,
    BinaryOp.MAX: _max,
}


def binary(op: BinaryOp, a: FloatArray, b: FloatArray, dtype: FloatType) -> FloatArray:
    """``a op b``, both of type ``dtype``."""
    result: FloatArray = _BINARY[op](a, b)
    return round_bf16(result) if dtype.name == "bf16" else result


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(x: float) -> float:
    if x > 0 or math.isnan(x):
        return math.log(x)
    return -math.inf if x == 0 else math.nan


FUNCTIONS: dict[UnaryOp, Callable[[float], float]] = {
    UnaryOp.EXP: _exp,
    UnaryOp.LOG: _log,
    UnaryOp.TANH: math.tanh,
    UnaryOp.SIN: lambda x: math.sin(x) if math.isfinite(x) else math.nan,
    UnaryOp.COS: lambda x: math.cos(x) if math.isfinite(x) else math.nan,
}
"""The C library's functions of doubles, with C's results at the poles and outside the domain."""


def unary(op: UnaryOp, x: FloatArray, dtype: FloatType) -> FloatArray:
    """``op x``; exp, log, tanh, sin and cos are computed in float64 and rounded."""
    match op:
        case UnaryOp.NEG:
            return np.negative(x)
        case UnaryOp.ABS:
            return np.abs(x)
        case UnaryOp.SQRT:
            root: FloatArray = np.sqrt(x)
            return round_bf16(root) if dtype.name == "bf16" else root
        case _:
            # One value at a time: NumPy's own loops may differ in the last digit between
            # contiguous and strided data, and from the C library's.
            values = np.asarray(x, dtype=np.float64)
            function = FUNCTIONS[op]
            wide = np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size)
            return round_to(wide.reshape(values.shape), dtype)
