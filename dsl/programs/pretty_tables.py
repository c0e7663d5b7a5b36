"""Tables of constants as text: arrays of NumPy in front of the kernel that captures them."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from dsl.expressions.types import DType, FixedType, FloatType, IntType
from dsl.programs.program import Array

_FORMATS = {"f16": "e", "bf16": "f", "f32": "f", "f64": "d"}
_WORDS = {"f16": "H", "bf16": "I", "f32": "I", "f64": "Q"}
_NUMPY_WIDTHS = (8, 16, 32, 64)


def table_text(array: Array) -> str:
    """``SINE = np.array([...], np.float32)``: all that the table holds."""
    words = ", ".join(_number(word, array.dtype) for word in array.contents)
    shape = f".reshape({', '.join(map(str, array.shape))})" if len(array.shape) > 1 else ""
    return f"{array.name} = np.array([{words}], {_numpy(array.dtype)}){shape}"


def _numpy(dtype: DType) -> str:
    """The type of NumPy; ``object`` where it has none, or another meaning to the front end."""
    match dtype:
        case IntType(width, signed) if width in _NUMPY_WIDTHS:
            return f"np.{'' if signed else 'u'}int{width}"
        case FloatType("f16"):
            return "np.float16"
        case FloatType("f32"):
            return "np.float32"
    return "object"


def _number(word: int, dtype: DType) -> str:
    if isinstance(dtype, FloatType):
        bits = word << 16 if dtype.name == "bf16" else word
        packed = struct.pack("<" + _WORDS[dtype.name], bits)
        (value,) = struct.unpack("<" + _FORMATS[dtype.name], packed)
        return repr(value) if math.isfinite(value) else f"float('{value}')"
    if isinstance(dtype, FixedType):
        value = Fraction(word) / Fraction(2) ** dtype.frac
        return repr(float(value)) if Fraction(float(value)) == value else str(value)
    return str(word)
