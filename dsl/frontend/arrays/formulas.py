"""Functions of NumPy and `math` that are one expression in the language: put in the place of their calls, never executed.

What NumPy computes more exactly than such an expression, as ``log1p`` near 0 or ``log2`` of powers of two, is not here.
"""

from __future__ import annotations

# ruff: noqa: ANN001, ANN201, D103
# mypy: ignore-errors
import math

import numpy as np


def fabs(x):
    return abs(x)


def negative(x):
    return -x


def positive(x):
    return +x


def reciprocal(x):
    return 1.0 / x


def hypot(a, b):
    return np.sqrt(a * a + b * b)


def tan(x):
    return np.sin(x) / np.cos(x)


def radians(x):
    return x * (math.pi / 180.0)


def degrees(x):
    return x * (180.0 / math.pi)


def isnan(x):
    return x != x


def fmin(a, b):
    return b if a != a else a if b != b else min(a, b)


def fmax(a, b):
    return b if a != a else a if b != b else max(a, b)


def invert(x):
    return ~x


def logical_and(a, b):
    return (a != 0) & (b != 0)


def logical_or(a, b):
    return (a != 0) | (b != 0)


def logical_xor(a, b):
    return (a != 0) ^ (b != 0)


def logical_not(x):
    return x == 0


def equal(a, b):
    return a == b


def not_equal(a, b):
    return a != b


def less(a, b):
    return a < b


def less_equal(a, b):
    return a <= b


def greater(a, b):
    return a > b


def greater_equal(a, b):
    return a >= b


def ptp(x):
    return np.max(x) - np.min(x)


def fliplr(m):
    return np.flip(m, axis=1)


def flipud(m):
    return np.flip(m, axis=0)


def correlate(a, v, mode="valid"):
    return np.convolve(a, np.flip(v), mode)
