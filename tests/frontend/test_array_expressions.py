"""Expressions of whole arrays, products and sums of them: what NumPy computes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft
from weft import f32, i16, i32

HEAD = "@weft.kernel\ndef k(x: i8[8], z: i8[8], m: i8[3, 4], n: i8[4, 3], y: i32[8], q: i32[3, 3], r: i32[3, 4]):\n    "
BODIES = {
    "T": "r[:] = n.T",
    "Tself": "q[:] = m @ n\nq[:] = q.T",
    "mm": "q[:, :] = m @ n",
    "mv": "y[:3] = m @ x[:4]",
    "vm": "y[:4] = x[:3] @ m",
    "dot": "y[0] = x @ z\ny[1] = np.dot(x, z)\ny[2] = x[:4].dot(m[0])",
    "sum": "y[0] = x.sum()\ny[1] = np.sum(m)\ny[2] = m.max()\ny[3] = np.min(m[1])\ny[4] = sum(x * z)\ny[5] = (x > 3).sum()",
    "axis": "y[:3] = m.sum(axis=1)\ny[4:] = np.max(m, 0)",
    "bc": "r[:] = m * x[:4] + m[:, 0:1]",
    "self": "x[:] = x - x.min() >> 1",
    "self2": "x[:] = (x - x[0]) >> 1",
    "self3": "x[:] = (x - sum(v for v in x)) & 63",
    "el": "y[:] = np.maximum(x, z) + np.abs(x) + np.where(x > z, x, 0)",
    "clip": "y[:] = np.clip(x, -3, 3)",
    "aug": "r[1, :] += m[0] * 2\nr += m",
    "abc": "q[:] = (m @ n) @ (m @ n)",
    "arr": "t = x + z\ny[:] = t * t",
    "mat": "c = m @ n\nq[:] = c @ c",
    "copy": "t = x.copy()\nx[0] = 1\ny[:] = t + x",
    "norm": "t = x - x.min()\ny[:] = t - (t.max() + x[0])",
    "wherer": "y[:] = np.where(x > z, np.square(x), np.add(x, z))",
    "casts": "for i in range(8):\n    y[i] = int(x[i]) + bool(z[i]) + int(i) * 2 + pow(x[i], 2)",
    "windows": "for i in range(8):\n    lo, hi = max(i - 2, 0), min(i + 3, 8)\n"
    "    y[i] = x[lo:hi].sum() * (hi - lo) + x[lo:hi] @ z[lo:hi] + z[max(0, i - 1) : i + 1].sum()",
    "lists of themselves": "a, b = [1, 2, 3, 4], [[1, 2], [3, 4]]\ng = lambda v: a[3 - v] & 63\nfor t in range(8):\n"
    "    a = [max(a[s], a[s ^ 1]) + x[t] for s in range(4)]\n    a = [a[1], a[0], a[3], z[t]]\n    a = [g(s) for s in range(4)]\n"
    "    b = [[b[j][i] + x[t] & 63 for j in range(2)] for i in range(2)]\n    a = [*a[1:], b[0][1]]\n    a = np.array([a[1], *a[:3]])\n"
    "y[:4] = a\ny[4:] = [y[3 - s] + b[1][s & 1] for s in range(4)]\nq[:2, :2] = np.array([[a[0], 1], [2, a[1]]])",
    "loops over expressions": "c = 0\nfor i in np.sort(x)[::-1][:3]:\n    y[c] = i\n    c += 1\n"
    "for k, (v, w) in enumerate(zip(x + 1, reversed(z[1:] - z[:-1]))):\n    x[(k + 1) % 8] = v & 63\n    y[k] += w\n"
    "for k, v in enumerate(m.ravel()):\n    y[k & 7] -= v",
    "mean": "y[0] = 3 * len(m[0]) + x.size + m.shape[1]\nfor row in m:\n    y[1] += len(row)",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


REFUSED = {
    "y[:3] = x @ m": "error[W142]: x @ m is a product of the shapes (8,) and (3, 4)",
    "y[:] = x + m[0]": "error[W142]: x + m[0] is of arrays of the shapes (8,) and (4,)",
    "y[0] = m @ n": "error[W142]: m @ n is an array, not one number",
    "y[:3] = m.sum(axis=2)": "error[W142]: the axis 2 is none of an array of 2 dimensions",
    "y[0] = x[0] @ 3": "error[W105]: '@' of numbers is not supported",
}


@pytest.mark.parametrize(("body", "message"), REFUSED.items())
def test_what_is_not_clear_is_said(error: Callable[[str], str], body: str, message: str) -> None:
    assert message in error("from weft import *\n" + HEAD + body + "\n")


HALF = np.linspace(-1.0, 1.0, 8).astype(np.float32)
TAPS = np.arange(-4, 5, dtype=np.int16).reshape(3, 3)
LARGE = np.arange(80, dtype=np.int32) * 3


class settings:  # noqa: N801 - as users name what holds numbers
    offset = np.array([5, 6, 7], np.int32)


@weft.kernel
def weighted(x: f32[8], y: f32[8]) -> f32:
    y[:] = x * HALF
    return x @ HALF


@weft.kernel
def filtered(m: i32[5, 5], out: i32[3, 3], w: i32[80]):
    for i in range(3):
        for j in range(3):
            out[i, j] = (m[i : i + 3, j : j + 3] * TAPS).sum()
    out += settings.offset
    w[:] = LARGE - w


@weft.kernel
def in_parts(a: i16[3], b: i16[3], m: i16[3, 3]):
    a[:] = TAPS[a[0] & 1] + a
    b[:] = TAPS[2] * TAPS[::-1, 0]
    for i in range(3):
        m[i] += TAPS[i] * TAPS[-1, 0]


def test_captured_arrays_are_operands() -> None:
    rng = np.random.default_rng(7)
    x, y = rng.random(8, np.float32), np.zeros(8, np.float32)
    total = weighted(x, y)
    assert (y == x * HALF).all()
    assert total == pytest.approx(float(x @ HALF), abs=1e-5)
    m, out = rng.integers(-9, 9, (5, 5), np.int32), np.zeros((3, 3), np.int32)
    w = np.arange(80, dtype=np.int32)
    filtered(m, out, w)
    right = [[(m[i : i + 3, j : j + 3] * TAPS).sum() for j in range(3)] for i in range(3)]
    assert (out == np.array(right) + settings.offset).all()
    assert (w == LARGE - np.arange(80)).all()
    a, b, n = np.array([1, 5, 7], np.int16), np.zeros(3, np.int16), np.ones((3, 3), np.int16)
    rows = TAPS[a[0] & 1] + a
    in_parts(a, b, n)
    assert (a == rows).all()
    assert (b == TAPS[2] * TAPS[::-1, 0]).all()
    assert (n == 1 + TAPS * TAPS[-1, 0]).all()
