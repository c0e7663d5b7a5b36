"""Variables of loops behind their loops, under the name of a local, and in each other: what Python computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft
from tests.frontend.conftest import Load

HEAD = "@weft.kernel\ndef k(x: i8[8], z: i8[8], y: i32[8]):\n    "
BODIES = {
    "left": "for i in range(8):\n    if x[i] > z[0]:\n        break\ny[0] = i",
    "name of a local": "i = 3\ny[0] = i\nfor i in range(6):\n    y[i] += x[i]\ny[1] += i\nfor i in range(5, 2, -1):\n    y[2] += i",
    "several": "for r in range(3):\n    for n, v in enumerate(x):\n        if v > r:\n            break\n    y[r] = n * 100 + v + r",
    "in each other": "for i in range(3):\n    for i in range(2, 4):\n        y[i] += x[i]\n    y[i] += 1",
    "constants": "for d in (0, 4, 2):\n    y[d] = x[d]\ny[1] = d",
    "while": "for i in range(3):\n    y[i] = x[i]\nwhile i < 8:\n    y[i] += 1\n    i += 1",
    "none": "i = 7\nfor i in range(min(z[0] & 3, 2)):\n    y[0] += x[i]\ny[1] = i",
    "tables": "for i in range(8):\n    y[i] = (0, 4, 2)[i % 3] * ((1, 2), (3, 4))[i & 1][x[i] & 1] + [x[i], 3, z[i], i][i & 3] + (1, 2)[-1]",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


def test_what_they_are_subscripts_of_is_affine(kernel: Load) -> None:
    lines = BODIES["left"].replace("\n", "\n    ")
    assert "x[i_at]" in weft.compile(kernel(f"from weft import *\n{HEAD}{lines}\n")).hls_cpp
