"""What the kernels of `tests.support.random_python` call and capture."""

from __future__ import annotations

from typing import Any

import numpy as np

TABLES: dict[str, Any] = {
    "ROM": [(7 * n * n + 3) % 251 - 100 for n in range(100)],
    "GRID": np.arange(-60, 60, dtype=np.int16).reshape(10, 12),
}
"""Captured by the kernels: what becomes read-only memories, of a list and of NumPy."""
HEAD = f"""\
import numpy as np
import weft
from weft import *

ROM = {TABLES["ROM"]}
GRID = np.array({TABLES["GRID"].tolist()}, np.int16)

"""
AS_PYTHON = {"ROM": TABLES["ROM"], "GRID": TABLES["GRID"].astype(object)}
"""The tables for Python: of numbers that do not wrap."""

HELPERS = """\
@weft.kernel
def sign(v: i32) -> i32:
    if v > 0:
        return 1
    return -1 if v else 0

@weft.kernel
def place(t: i8[8], key: i32) -> i32:
    for n, v in enumerate(t):
        if v & 15 == key & 15:
            return n
    return -1

@weft.kernel
def both(p: i32, q: i32) -> tuple[i32, i32]:
    if p > q:
        return p & 63, q & 31
    return (p + q) & 63, 5

@weft.kernel
def scaled(v: i32, by: i32 = 3, *, more: i32 = 1) -> i32:
    return v * by + more

def clipped(v, low=-9, high=99):
    return min(max(v, low), high)

def weighed(t, n):
    if n == 0:
        return t[0]
    v = weighed(t, n - 1) & 127
    return v + t[n] * n

def split_up(v, by):
    q = v // by
    if q > 50:
        q = 50
    return q, v % by

@weft.kernel
def mixed(t: i32[4]) -> i32:
    s: i32 = 0
    for v in t:
        if v in (1, 2):
            continue
        s += v & 255
    return s

"""
