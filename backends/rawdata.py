"""Raw arrays as bytes: the format of golden data files, as ``vitis/weft_tb.h`` describes it.

Row-major, little endian, nothing but the elements. An integer or the raw integer of a fixed-point
number takes 1, 2, 4 or 8 bytes, or whole 8-byte words, lowest first, when it is wider than 64 bits.
f16, bf16 and f32 are binary32, f64 is binary64.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt

from dsl.expressions.types import DType, FixedType, FloatType, IndexType, IntType
from dsl.programs.program import Array

RawArray = npt.NDArray[Any]


def element_bytes(dtype: DType) -> int:
    """Bytes of one element in a file."""
    match dtype:
        case IntType(width=width) | FixedType(width=width):
            return next((n for n in (1, 2, 4) if width <= 8 * n), -(-width // 64) * 8)
        case FloatType(name=name):
            return 8 if name == "f64" else 4
        case IndexType():
            return 4
    assert_never(dtype)


def _is_signed(dtype: DType) -> bool:
    return not isinstance(dtype, IntType | FixedType) or dtype.signed


def file_type(dtype: DType) -> np.dtype[Any]:
    """The NumPy type of an element in a file, of at most 8 bytes."""
    return numpy_type(dtype, element_bytes(dtype))


def numpy_type(dtype: DType, size: int) -> np.dtype[Any]:
    """The little-endian NumPy type of so many bytes, at most 8, for an element's kind."""
    kind = "f" if isinstance(dtype, FloatType) else "i" if _is_signed(dtype) else "u"
    return np.dtype(f"<{kind}{size}")


def to_bytes(array: Array, value: object) -> bytes:
    """The contents of a file that holds `value`, a raw array (or scalar) for `array`.

    Raises:
        ValueError: The shape is not the array's.
    """
    data = np.asarray(value)
    if data.shape != array.shape:
        raise ValueError(f"{array.name} has the shape {array.shape}, not {data.shape}")
    size = element_bytes(array.dtype)
    if size <= 8:
        return data.astype(file_type(array.dtype)).tobytes()
    signed = _is_signed(array.dtype)
    return b"".join(int(x).to_bytes(size, "little", signed=signed) for x in data.ravel())


def from_bytes(array: Array, data: bytes, storage: np.dtype[Any]) -> RawArray:
    """The raw array in a file's contents.

    Args:
        array: Says type and shape.
        data: Exactly the elements.
        storage: The type of raw arrays of this element type (`dsl.arrays.inputs.storage_dtype`).

    Raises:
        ValueError: The length does not fit.
    """
    size, count = element_bytes(array.dtype), prod(array.shape)
    if len(data) != size * count:
        raise ValueError(f"{array.name}: {len(data)} bytes, not {size * count}")
    if size <= 8:
        flat = np.frombuffer(data, file_type(array.dtype)).astype(storage)
    else:
        signed = _is_signed(array.dtype)
        words = [data[n : n + size] for n in range(0, len(data), size)]
        flat = np.empty(count, dtype=object)
        flat[:] = [int.from_bytes(word, "little", signed=signed) for word in words]
    return flat.reshape(array.shape)


def pack(arrays: tuple[Array, ...], values: Mapping[str, object]) -> bytes:
    """Several arrays one after the other."""
    return b"".join(to_bytes(a, values[a.name]) for a in arrays)


def unpack(
    arrays: tuple[Array, ...], data: bytes, storage: Mapping[str, np.dtype[Any]]
) -> dict[str, RawArray]:
    """What `pack` wrote.

    Raises:
        ValueError: The length does not fit.
    """
    found: dict[str, RawArray] = {}
    at = 0
    for array in arrays:
        end = at + element_bytes(array.dtype) * prod(array.shape)
        found[array.name] = from_bytes(array, data[at:end], storage[array.name])
        at = end
    if at != len(data):
        raise ValueError(f"{len(data)} bytes, not {at}")
    return found
