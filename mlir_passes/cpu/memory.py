"""Raw arrays as LLVM lays them out in memory, and back.

LLVM keeps an ``iN`` zero-extended in the next power of two of bytes up to 8, and in a multiple of
16 bytes beyond 64 bits; a value whose spare bits are not zero is undefined to it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dsl.expressions.types import FloatType
from mlir_passes.construct.arithmetic import exact
from mlir_passes.dialect.attributes import ArrayInfo

_FLOATS = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64}


def element_bytes(width: int) -> int:
    """Bytes from one ``iN`` element to the next."""
    if width > 64:
        return 16 * -(-width // 128)
    return 1 << max(0, (width - 1).bit_length() - 3)


def store_raw(value: Any, info: ArrayInfo) -> Any:
    """A fresh contiguous array with the memory of an argument, from its raw data.

    Raises:
        ValueError: the shape is not the declared one.
    """
    array = np.asarray(value)
    if array.shape != info.shape:
        raise ValueError(f"{info.name} has the shape {array.shape}, not {info.shape}")
    if isinstance(info.dtype, FloatType):
        if info.dtype.name == "bf16":
            bits = array.astype(np.float32).reshape(-1).view(np.uint32)
            return (bits >> np.uint32(16)).astype(np.uint16)
        return array.astype(_FLOATS[info.dtype.name]).reshape(-1)
    width = exact(info.dtype).width
    size = element_bytes(width)
    if width > 64:
        mask = (1 << width) - 1
        data = b"".join((int(x) & mask).to_bytes(size, "little") for x in array.reshape(-1))
        return np.frombuffer(data, dtype=np.uint8).copy()
    bits = array.reshape(-1).astype(np.int64).view(np.uint64)
    return (bits & np.uint64((1 << width) - 1)).astype(f"u{size}")


def empty_raw(info: ArrayInfo) -> Any:
    """Memory of a local array; what is in it is undefined to the kernel."""
    width = info.dtype.width if isinstance(info.dtype, FloatType) else exact(info.dtype).width
    return np.zeros(math.prod(info.shape) * element_bytes(width), dtype=np.uint8)


def store_words(info: ArrayInfo) -> Any:
    """Memory of a table of constants."""
    width = info.dtype.width if isinstance(info.dtype, FloatType) else exact(info.dtype).width
    mask, size = (1 << width) - 1, element_bytes(width)
    return np.array([word & mask for word in info.contents], dtype=f"u{size}")


def load_raw(data: Any, info: ArrayInfo) -> Any:
    """The raw array that memory made by `store_raw` holds now."""
    if isinstance(info.dtype, FloatType):
        if info.dtype.name == "bf16":
            return (data.astype(np.uint32) << np.uint32(16)).view(np.float32).reshape(info.shape)
        return data.reshape(info.shape)
    dtype = exact(info.dtype)
    size = element_bytes(dtype.width)
    if dtype.width > 64:
        return _wide(data.tobytes(), size, dtype.width, dtype.signed).reshape(info.shape)
    if not dtype.signed:
        return data.reshape(info.shape)
    spare = 8 * size - dtype.width
    return ((data << spare).view(f"i{size}") >> spare).reshape(info.shape)


def _wide(data: bytes, size: int, width: int, signed: bool) -> Any:
    numbers = [int.from_bytes(data[n : n + size], "little") for n in range(0, len(data), size)]
    sign = 1 << (width - 1)
    found = np.empty(len(numbers), dtype=object)
    found[:] = [(x ^ sign) - sign if signed else x for x in numbers]
    return found
