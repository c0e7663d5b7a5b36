"""Functions of NumPy and of Python that change places, count, sort and round: what they compute."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.frontend.conftest import Load

HEAD = (
    "import math\nIDX = [3, 1, 0, 2]\nH = np.array([1, 2, 3])\nTABLE = [[1, 2], [3, 4]]\n\n"
    "@weft.kernel\ndef k(x: i16[8], m: i8[4, 2], f: f32[8], y: i32[8], z: i32[4], w: i32[4, 2]):\n    "
)
BODIES = {
    "moved": "y[:] = np.roll(x, -3) + np.flip(x) + np.roll(x, 11)\nw[:] = np.roll(m, 1, axis=0) - np.flip(m, axis=1)",
    "sums": "y[:] = np.cumsum(x * 2)\ny[0] = np.count_nonzero(x > 3) + np.sum(x > 5)",
    "picked": "z[:] = x[IDX] + np.arange(4) + x[[0, 7, 1, 1]]\ny[4:] = np.arange(1, 9, 2)",
    "shapes": "w[:, :] = x.reshape(4, 2) + np.outer(x[:4], x[4:6])\ny[:] = m.flatten() + np.ravel(w) + w.reshape(-1)",
    "split": "a, b = np.split(x, 2)\ny[:4] = a - b\nleft, right = np.hsplit(m, 2)\nz[:] = left[:, 0] * right[:, 0]\np, q, r = np.array_split(x, 3)\np[0] = 5\ny[7] = x[0] + r.sum() + q[2]",
    "named": "t = m.T\nr = x[2:6].reshape(2, 2)\nz[:] = t[0] + r[1, 0]\ns = w.T.copy()\nw[0, 0] = 3\nz[1] = s[0, 0]\nfor v in m.reshape(8):\n    y[0] += v\nfor i, v in enumerate(x[:4]):\n    y[i] += v",
    "dimensions": "w[:] = x[:4, None] * m + x[np.newaxis, :2]",
    "masks": "y[:] = x\ny[y > 40] -= 7\ny[(y < 3) & (x > 1)] = z[1]\nz[z == 0] = 1\nz[0] = x[x > 3].sum() + np.sum(m[m < 0])",
    "places": "y[np.argmax(x)] = 1\nz[0] = x.argmin() + np.argmin(abs(x)) + m[:, 1].argmax()",
    "sorted": "y[:] = np.sort(x)\nz[:] = np.sort(m[:, 0])",
    "einsum": "w[:] = np.einsum('ij,jk->ik', m, m[:2])\nz[:] = np.einsum('ij->i', m)\nz[0] = np.einsum('i,i->', x, x)\ny[:4] = np.einsum('ij,ij->i', m, w)",
    "convolved": "y[:] = np.convolve(x, H, mode='same')\nz[:] = np.convolve(x[:6], H, 'valid')\ny[:6] = np.convolve(H, z)\ny[1:7] += np.convolve(H, z)",
    "padded": "y[:] = np.pad(z, (1, 3), constant_values=5)\ny[2:] += np.pad(z, 1)\ny[:6] += np.concatenate((m[0], z))",
    "tables": "t = np.array(TABLE)\nw[:2] = t\nw[2:, :] = np.array(TABLE)\ny[:] = x.clip(2, 20)\ny[1:] -= np.diff(x)",
    "bits": "for i in range(8):\n    y[i] = bin(x[i]).count('1') * 100 + (x[i] & 255).bit_count()",
    "rounded": "for i in range(8):\n    y[i] = round(f[i] * 4.0) + math.floor(f[i] * 2.0) * 10 + math.ceil(f[i] - 2.5) * 100",
    "halves": "for i in range(8):\n    y[i] = round(f[i] * 0.0 + 0.5 * i - 1.5) + math.trunc(f[i] * 3.0)",
    "walrus": "for i in range(8):\n    if (d := x[i] - 3) > 0:\n        y[i] = d\n    elif (e := x[i]) == 2:\n        y[i] = e\n    y[i] += (g := i + 1) * g",
    "unpacked": "a, b = m[1]\np, q = x[2:4]\ny[0] = a * 3 - b + p - q\ndel a",
    "zipped": "s = 0\nfor a, h in zip(x, H):\n    s += a * h\ny[0] = s",
    "kept": "w[:] = m - m.max(axis=1, keepdims=True)\nw[:] -= w.sum(axis=0, keepdims=True)\nw[:] -= x.reshape(4, 2).min(keepdims=True)",
    "order": "t = x.reshape(2, 2, 2)\ny[:] = np.transpose(t, (0, 2, 1)).ravel() + t.transpose(2, 0, 1).reshape(8)",
    "axes": "z[:] = x.reshape(2, 2, 2, 1).max(axis=(1, 3)).reshape(4)\ny[0] = m.sum(axis=(0, 1))\nz[:2] += m.T.sum(axis=(1,))",
    "stacked": "w[:] = np.stack((m[:, 0], m[:, 1] + 1), axis=-1)\nw[:2] = np.vstack((m[1], m[:1]))\nz[:] = x[:4]\ny[:] = np.concatenate((z, x[:3], [x[0]]))",
    "columns": "w[:] = np.column_stack((x[:4], x[4:]))\nw[:] += np.concatenate((m[1:], m[:1]), axis=0)",
    "repeated": "y[:] = np.repeat(x[:4], 2) - np.tile(x[2:4], 4)\nw[:] = np.repeat(m[:2], 2, axis=0)",
    "around": "t = np.pad(m, 1)\nu = np.pad(m, ((0, 1), (2, 0)), constant_values=7)\ny[:4] = t[2]\ny[4:] = u[4]\nz[:] = t[1:5, 2] + u[0]",
    "matrices": "w[:2] = np.tril(m[:2]) - np.triu(m[1:3], 1)\nz[:2] = np.diag(m)\nw[2:] = np.diag(m[:2, 0]) + 3 * np.eye(2, dtype=np.int32)\nz[2] = np.trace(m) + np.sign(x[0] - 4)",
    "products": "w[:] = np.kron(m[:2], m[:2, :1])\ny[:3] = np.cross(x[:3], x[3:6])\nz[:] = (x.reshape(2, 2, 2) @ m[0]).reshape(4) + m @ np.array([2, -1])",
    "scans": "y[:] = np.maximum.accumulate(x) - np.minimum.accumulate(x)\nz[:] = np.cumprod(m[:, 0])",
    "ranked": "y[:] = x[np.argsort(x)]\nz[0] = np.median(x[:5])\nz[2:] = sorted(m[0])",
    "counted": "for v in x:\n    z[0] += v\nt = np.linspace(0, 6, 4)\nfor i in range(4):\n    z[i] += int(t[i])",
    "renamed": "now = np.zeros(8, np.int32)\nthen = np.zeros(8, np.int32)\nnow[:] = x\nfor t in range(3):\n    for i in range(1, 7):\n        then[i] = now[i - 1] + now[i + 1] + t\n    now, then = then, now\ny[:] = now\na = np.zeros(8, np.int32)\na = x + 1\nfor t in range(2):\n    b = a * 2 + t\n    a = b\nz[:] = a[:4]",
    "listed": "for i, (low, high) in enumerate([(0, 3), (1, 5)]):\n    y[i] = min(max(x[i], low), high)\nfor i, h in enumerate([3, 1, 4]):\n    y[i] += h\nz[0] = sum(a * h for a, h in zip(x, (1, 2, 3)))",
    "truths": "y[:] = x.astype(np.bool_)\nz[0] = np.bool_(x[0]) * 2\nz[1] = bool(x[1])\nz[:] += np.linspace(-2, 1, 4, dtype=int) + np.linspace(-1, 1, 4, dtype=np.int8)",
    "clipped": "y[:] = x.clip(max=9) + np.clip(x, None, 20) - np.clip(x, a_min=3, a_max=5)",
    "filled": "a = np.full(8, f[0], int)\nb = np.array([f[1], 3], int)\nc = np.zeros_like(x, dtype=int)\nc[:] = x * 30000\ny[:] = a + c\nz[:2] = b\nd = np.ones(4, bool)\nfor i in range(4):\n    d[i] = x[i] > 3\nz[2:] = d[2:]\nt = np.array(TABLE, np.int8)\nz[1] = t[1, 0]",
    "subscripted": "y[:] = np.sort(x)[::-1] + (x * 2)[1]\nz[:2] = (m @ m[:2])[1] + (x[1:4] * 2)[-2:]\nz[2] = (m @ m[:2])[1, 0] + m.T[1][2]\na = (x + y)[1]\nx[:] = (x + 1)[::-1]\nz[3] = a + sum((x * i)[1] for i in range(4))\nif (x * 2)[1] > 4:\n    w[:] = (x[:4] + 1)[:, None] * m\nfor i in range(3):\n    y[i] += H.T[i]",
    "other names": "y[:] = np.add.outer(x[:2], x[4:]).ravel() + np.negative(x)\nz[:] = np.add.reduce(m.T) + np.tensordot(m, m.T, axes=1)[0] + np.add.reduce(m, axis=1)\nz[0] += np.bitwise_xor.reduce(x) + np.prod(m[0]) + np.ptp(x) + np.logical_and(x[0], 4)\ny[:6] += np.correlate(x, H) + np.fliplr(m).T[0, 0] + np.fmax(x[:6], 4)\nw[:] = np.cumsum(m, axis=1) - np.cumsum(m, axis=0) + np.greater(m, 3)",
    "differences": "y[:6] = np.diff(x, 2) - np.diff(x[1:])\nw[:3] = np.diff(m, axis=0)\nfor d in (-1, 0, 2):\n    y[:] += np.roll(x, d)",
    "mirrored": "y[:] = np.pad(x[:4], 2, mode='edge') + np.pad(x[1:5], (3, 1), 'reflect')\ny += np.pad(x[:4], (1, 3), mode='symmetric') * 3 + np.pad(x[4:], 2, mode='wrap')\nw[:] = np.pad(m[1:3], ((1, 1), (0, 0)), mode='reflect')",
    "parts of parts": "z[:] = x[1:][2:6][::-1] + m[1:][0, 1] + x[::2][3]\ny[2:][1:3] = x[4:][0], z[1:3][1]\nw[1:][1][1:] = 5\nfor i in range(3):\n    y[5:][i] += x[1:7][i + 2]",
    "lists": "w[0] = x[0], w[1, 1]\nw[:2] = [[w[0, 1], 2], [w[0, 0], x[3]]]\nz[1:3] = z[2], z[1]\nrows, *rest = m.shape\n*_, last = m.shape\nz[0] = rows + rest[0] * 10 + last\nassert m.shape == (4, 2) and z.shape != y.shape",
    "rows at data": "k = x[0] & 3\nw[k] = m[x[1] & 3] * 2\nw[k] += w[0]\nw[min(k, 2), ::-1] -= x[:2]\nz[0] = m[k].sum() + max(w[k]) + m[k] @ x[:2]\nz[1:] = w[:3, k & 1]",
    "asserted": "assert len(x) % 4 == 0, 'blocks'\ny[0] = 1",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


def test_floats(kernel: Load) -> None:
    made = kernel(
        "import numpy as np\nW = [0.5, 0.25, 1.5, 2.0, 1.0, 3.0, 0.1, 0.2]\n\n"
        "@weft.kernel\ndef k(x: f32[8], y: f32[8], z: f32[4]):\n"
        "    for i in range(8):\n        y[i] = math.sin(x[i]) + weft.cos(x[i]) + np.sin(0.5)\n"
        "    s = 0.0\n    for a, w in zip(x, W):\n        s += a * w\n"
        "    z[0] = s\n    z[1] = np.var(x)\n    z[2] = x.std()\n    z[3] = x.mean()\n"
    )
    x = np.linspace(-3, 3, 8, dtype=np.float32)
    y, z = np.zeros(8, np.float32), np.zeros(4, np.float32)
    made(x, y, z)
    table = np.array([0.5, 0.25, 1.5, 2.0, 1.0, 3.0, 0.1, 0.2])
    assert np.allclose(y, np.sin(x) + np.cos(x) + np.sin(0.5), atol=1e-5)
    assert np.allclose(z, [x @ table, x.var(), x.std(), x.mean()], atol=1e-4)


ROUNDED = [
    0.5,
    -0.5,
    2.5,
    -1.5,
    0.49999997,
    -1e-30,
    8388607.5,
    -16777217,
    2.0**31,
    -3e9,
    1e20,
    1023.5,
]


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_floats_are_rounded_to_floats(kernel: Load, dtype: str) -> None:
    made = kernel(
        f"import numpy as np\nfrom weft import f16\n\n@weft.kernel\ndef k(x: {dtype}[15], y: {dtype}[4, 15]):\n"
        "    y[0, :] = np.floor(x)\n    y[1, :] = np.ceil(x)\n    y[2, :] = np.trunc(x)\n    y[3, :] = np.rint(x)\n"
    )
    with np.errstate(over="ignore"):
        x = np.array([*ROUNDED, math.inf, -math.inf, math.nan]).astype(dtype.replace("f", "float"))
    y = np.zeros((4, 15), x.dtype)
    made(x, y)
    assert np.array_equal(y, [np.floor(x), np.ceil(x), np.trunc(x), np.rint(x)], equal_nan=True)


def test_gathers_of_whole_arrays(kernel: Load) -> None:
    made = kernel(
        "from weft import u3\n\n@weft.kernel\ndef k(x: i32[8], p: u3[5], y: i32[5]):\n    y[:] = x[p] + 1\n"
    )
    x, p, y = (
        np.arange(8, dtype=np.int32) * 7,
        np.array([7, 0, 3, 3, 1], np.uint8),
        np.zeros(5, np.int32),
    )
    made(x, p, y)
    assert list(y) == [50, 1, 22, 22, 8]


REFUSED = {
    "y[:] = x[x > 3]": "are the elements where a condition holds, which are not a known number",
    "y[:] = np.sort(m)": "its operand is an array of one dimension",
    "y[:] = x.reshape(3, 3)": "it has 8 elements",
    "y[:] = np.roll(x, y[0])": "is no integer constant",
    "y[:] = np.einsum('ij->i', x)": "is of an array of the shape (8,)",
    "y[:] = np.pad(x, 1, mode='mean')": "write np.pad(x, (before, after), constant_values=0)",
    "y[0] = np.argmax(m, axis=0)": "write np.argmax(x), of an array of one dimension",
    "t = x.reshape(4, 2)\n    t[0, 0] = 1\n    y[:] = x": "x.reshape(4, 2) is a view of 'x' in NumPy, no copy",
    "t = m.T\n    m[0, 0] = 1\n    z[:] = t[0]": "m.T is a view of 'm' in NumPy",
    "t = np.flip(x)\n    for i in range(8):\n        x[i] = t[i]": "np.flip(x) is a view of 'x'",
    "y[:] = np.vstack((m, x))": "its parts have the shapes (4, 2), (1, 8)",
    "f[0] = np.linalg.norm(f, 1)": "write np.linalg.norm(x, axis=1)",
    "y[0] = np.sum(x, where=x > 3)": "np.sum(x, where=x > 3) is not supported in a kernel: 'where'",
    "z[:] = m.max(axis=1, initial=7)": "is not supported in a kernel: 'initial'",
    "z[:] = np.count_nonzero(m, axis=1)": "error[W111]: np.count_nonzero(...) is not supported",
    "z[0] = np.trace(m, offset=1)": "error[W111]: np.trace(...) is not supported",
    "y[:] = np.maximum.accumulate(x, axis=0)": "write np.maximum.accumulate(x)",
    "w[:] = np.tile(m[:2], 2)": "write np.tile(x, 2), of one dimension",
    "w += np.eye(60000)": "it has at most 65536 elements",
    "y[:] = np.roll(x, shift=1)": "write np.roll(x, 1)",
    "y[:] = m.flatten(order='F')": "write x.flatten(), of which the last dimension is the fastest",
    "y[:] = np.ravel(m, 'F')": "write np.ravel(x)",
    "w[:] = np.transpose(m, (0, 0))": "does not give the order of 2 axes",
    "z[0] = np.dot(x, x, z)": "is not supported in a kernel",
    "y[:] = np.minimum(x, y, y)": "np.minimum() takes 2 arguments, not 3",
    "y[:] = np.hstack((z, z), 1)": "write np.hstack((a, b)), which has no axis",
    "y[:] = x.clip(2, 5, where=x > 3)": "write x.clip(low, high)",
    "z[:] = np.matmul(m, m[0], keepdims=True)": "is not supported in a kernel: 'keepdims'",
    "z[0] = np.mean(x, dtype=np.int8)": "a mean is one of floats: dtype=np.float32",
    "y[:] = (x > 3) + (y > 2)": "is of truth values, whose sum is 'or' in NumPy",
    "y[:] = np.subtract(x > 3, y > 2)": "is of truth values, whose sum is 'or' in NumPy",
    "v = np.zeros(8, int)\n    v[:] = f": "'v' is an array of integers in NumPy",
    "v = np.array([1, 2])\n    v[0] = f[0]": "'v' is an array of integers in NumPy",
    "v = np.zeros(8, np.bool_)\n    v[0] = x[0]": "'v' is an array of truth values in NumPy",
    "v = np.zeros_like(x, shape=(4,))": "is not supported in a kernel: 'shape'",
    "v = np.asarray(x)\n    x[0] = 1\n    y[:] = v": "np.asarray(x) is a view of 'x'",
    "v = x.astype(np.int16, copy=False)\n    v[0] = 1": "is a view of 'x' in NumPy",
    "v = np.diag(m)\n    m[0, 0] = 1\n    y[0] = v[0]": "np.diag(m) is a view of 'm'",
    "y[0] = (x[1:4] * 2)[3]": "error[W145]: (x[1:4] * 2)[3] is no part of an expression of arrays",
    "y[0] = (x * 2)[z[0]]": "give the expression a name, and subscript that",
    "y[:] = np.sort(x)[2:2]": "the slice has no elements",
    "t = m.T[1]\n    m[0, 1] = 1\n    z[:] = t": "m.T[1] is a view of 'm' in NumPy",
    "y[:] = np.eye(x[0])": "its arguments are constants",
    "y[:] = np.linspace(0, 1, 999999)": "it has at most 65536 elements",
    "y[0] = np.max(m, axis=2)": "the axis 2 is none of an array of 2 dimensions",
    "w[:] = np.pad(m[1:], 1, mode='mean')": "write np.pad(m, ((1, 1), (2, 2)), constant_values=0)",
    "h = x + 1\n    g = x + 2\n    h = g\n    g[0] = 1": "'h' and 'g' are one array in NumPy, and one of them is written",
    "x, y = y, x": "'x' is an argument, and the caller keeps its own name of it",
    "y[:] = np.percentile(x, 5)": "error[W111]: np.percentile(...) is not supported",
    "assert len(x) == 9": "this assertion does not hold: len(x) == 9",
    "assert x[0] > 9": "'assert' of data or loop variables is not supported",
    "y[0] = 1 if x[0] else (t := 3)": "':=' that a condition decides on is not supported",
    "a, b, c = x": "3 targets are not assigned by x",
}


@pytest.mark.parametrize(("body", "message"), REFUSED.items())
def test_what_is_refused_is_said(error: Callable[[str], str], body: str, message: str) -> None:
    assert message in error(f"import numpy as np\nfrom weft import *\n{HEAD}{body}\n")
