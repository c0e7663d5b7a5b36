"""Calls that change arrays, reversed parts, and numbers of another type: what Python and NumPy compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.frontend.conftest import Load

HEAD = "@weft.kernel\ndef k(x: i32[8], u: u8[8], f: f32[8], A: i32[4, 4], B: i32[4, 4], y: i32[8]):\n    "
BODIES = {
    "out": "np.dot(A, B, out=B)\nnp.maximum(A[0], 2, out=A[1])\nnp.subtract(A[:, 1], B[2], out=A[:, 2])\nnp.cumsum(x, out=y)",
    "methods": "y.fill(3)\ny[1:3].fill(7)\nx.sort()\nnp.copyto(A[2], x[2:6])",
    "reversed": "for a, b in zip(x[::2], reversed(y[1::2])):\n    y[0] = y[0] * 3 + a - b\nfor v in reversed(x[1:5]):\n    y[1] = y[1] * 2 + v\n"
    "for n, row in enumerate(reversed(A)):\n    for v in reversed(row):\n        y[n + 2] = y[n + 2] * 2 + v",
    "powers of two": "for i in range(8):\n    y[i] = 2 ** i + 2 ** (i % 3) + 2 ** (u[i] & 7)",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


REFUSED = {
    "y[0] = f[0].view(np.uint32)": "error[W105]: the bits of f32 as u32",
    "y[0] = 3.0 ** f[0]": "help: write weft.exp(1.0986122886681098 * (f[0]))",
    "y[0] = np.log2(f[0])": "help: write weft.log(x) * 1.4426950408889634",
    "y[0] = [1, 2, 3][u[0]]": "error[W164]: the subscript u[0] of the list [1, 2, 3] may be 0 to 255",
}


@pytest.mark.parametrize(("body", "message"), REFUSED.items())
def test_what_to_write_instead_is_said(
    error: Callable[[str], str], body: str, message: str
) -> None:
    assert message in error(f"import numpy as np\nfrom weft import *\n{HEAD}{body}\n")


def test_numbers_of_another_type(kernel: Load) -> None:
    body = "for i in range(8):\n        y[i] = x[i].astype(np.int8) + u[i].view(np.int8) + f[i].astype(np.int32)"
    found = kernel(f"import numpy as np\nfrom weft import *\n{HEAD}{body}\n")
    x, u = np.arange(-400, 400, 100, dtype=np.int32), np.arange(120, 136, 2).astype(np.uint8)
    f, A, y = np.linspace(-3.7, 4.2, 8, dtype=np.float32), np.zeros((4, 4), np.int32), x.copy()
    found(x, u, f, A, A.copy(), y)
    expected = x.astype(np.int8).astype(np.int32) + u.view(np.int8) + f.astype(np.int32)
    assert y.tolist() == expected.tolist()
