"""How values are held at run time: by the interpreter, the JIT, compiled C++ and files alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsl.arrays import exact, floats
from dsl.expressions.numeric import signed_of, width_of
from dsl.expressions.types import DType, FloatType


def storage_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of the elements.

    Integers and raws of fixed point are in the smallest of (u)int8, 16, 32, 64 that holds them,
    wider ones as Python integers in object arrays; bf16 is in float32 with its low 16 bits zero.
    """
    if isinstance(dtype, FloatType):
        return floats.HOLDS[dtype.name]
    width = width_of(dtype)
    if width > 64:
        return np.dtype(object)
    bits = max(8, 1 << (width - 1).bit_length())
    return np.dtype(f"{'int' if signed_of(dtype) else 'uint'}{bits}")


def stored(raws: exact.Raws, dtype: DType) -> NDArray[Any]:
    """Raws or floats that are in range as they are held."""
    return raws.astype(storage_dtype(dtype), copy=False)
