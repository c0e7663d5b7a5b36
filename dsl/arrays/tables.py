"""Raw words of tables of constants (`dsl.programs.program.Array.contents`), from numbers and to NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsl.arrays.storage import storage_dtype
from dsl.expressions.literals import const
from dsl.expressions.types import DType, FixedType, FloatType
from dsl.programs.program import Array

_BITS = {"f16": np.uint16, "bf16": np.uint32, "f32": np.uint32, "f64": np.uint64}
_FLOATS = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}


def raw_words(numbers: Sequence[int | float], dtype: DType) -> tuple[int, ...]:
    """The raw words of numbers, each converted as a literal of that type is.

    Raises:
        LanguageError: W123 a number that does not fit.
    """
    return words_of([const(number, dtype).value for number in numbers], dtype)


def words_of(values: Sequence[int | float | Fraction], dtype: DType) -> tuple[int, ...]:
    """The raw words of values that a type has."""
    if isinstance(dtype, FloatType):
        data = np.array(values, _FLOATS[dtype.name]).view(_BITS[dtype.name])
        shift = 16 if dtype.name == "bf16" else 0
        return tuple(int(word) >> shift for word in data)
    scale = 2**dtype.frac if isinstance(dtype, FixedType) else 1
    return tuple(int(Fraction(value) * scale) for value in values)


def float_of_word(word: int, dtype: FloatType) -> float:
    """The value of the bits of a float."""
    shift = 16 if dtype.name == "bf16" else 0
    return float(np.array([word << shift], _BITS[dtype.name]).view(_FLOATS[dtype.name])[0])


def table_data(array: Array) -> NDArray[Any]:
    """What a table holds, as the interpreter has arrays of its type."""
    dtype = array.dtype
    if isinstance(dtype, FloatType):
        words = [w << 16 for w in array.contents] if dtype.name == "bf16" else array.contents
        data = np.array(words, _BITS[dtype.name]).view(_FLOATS[dtype.name])
    else:
        data = np.array(array.contents, storage_dtype(dtype))
    return data.astype(storage_dtype(dtype)).reshape(array.shape)
