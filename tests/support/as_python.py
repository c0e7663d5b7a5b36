"""Kernels executed as the Python functions that they are: what their text means to who wrote it.

Arrays are NumPy arrays of Python's numbers, so that integers are exact; nothing wraps at types, but results are compared as far as types keep them. Locals are
scalars: a declared array is none in Python.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from dsl.kernels.kernel import Kernel


class _Type:
    """A type of the language, which only stands in annotations."""

    def __getitem__(self, item: object) -> _Type:
        return self


class _Weft(SimpleNamespace):
    def __getattr__(self, name: str) -> object:
        return _Type()


def _grid(*extents: int) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*map(range, extents))


def executed(
    text: str, arrays: Mapping[str, Any], name: str = "k", **space: object
) -> dict[str, Any]:
    """What the function of that name leaves in its arguments; its results under ``result`` or ``result_0`` …"""
    weft = _Weft(kernel=lambda f: f, grid=_grid)
    types = {
        n: _Type() for n in ("f32", "f64", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32")
    }
    names: dict[str, Any] = {"weft": weft, "np": np, "math": math, **types, **space}
    exec(text, names)
    held = {n: a.astype(object) if hasattr(a, "astype") else a for n, a in arrays.items()}
    found = names[name](**held)
    if isinstance(found, tuple):
        held |= {
            f"result_{n}": value if np.ndim(value) else [value] for n, value in enumerate(found)
        }
    elif found is not None:
        held["result"] = found if np.ndim(found) else [found]
    return held


def differences(
    kernel: Kernel, text: str, seed: int = 0, largest: int = 0, **space: object
) -> list[str]:
    """The arguments of a kernel that differ between its text as Python and its program as it is interpreted.

    Args:
        kernel: of that text.
        text: of the kernel and those that it calls.
        seed: of the inputs.
        largest: input arrays are remainders of one more than that; 0: they are what they are.
        space: what else the text refers to.
    """
    from dsl import interp

    inputs = kernel.make_inputs(seed)
    if largest:
        inputs = {
            n: (v.astype(object) % (largest + 1)).astype(v.dtype) if hasattr(v, "astype") else v
            for n, v in inputs.items()
        }
    results = [a.name for a in kernel.program.arguments][len(inputs) - kernel.results :]
    given = {
        n: v.copy() if hasattr(v, "copy") else v for n, v in inputs.items() if n not in results
    }
    right = executed(text, given, kernel.name, **space)
    found = interp.run(kernel.program, inputs)
    return [n for n, got in found.items() if not _same(np.asarray(right[n], object), got)]


def _same(right: Any, got: Any) -> bool:
    """Whether the values are the same: of integers as far as the type of the argument keeps them."""
    if got.dtype.kind == "f":
        return bool(np.array_equal(right.astype(float), got.astype(float)))
    size = 1 << 8 * got.dtype.itemsize
    pairs = zip(right.ravel(), got.ravel(), strict=True)
    return all((int(a) - int(b)) % size == 0 for a, b in pairs)
