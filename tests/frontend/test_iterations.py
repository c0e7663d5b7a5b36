"""Loops over arrays and constants, names of constants, membership: what Python means by them."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from backends.equivalence import equivalence
from dsl.programs.program import Loop
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.frontend.conftest import Load
from tests.support.as_python import differences

BODIES = {
    "elements": "for v in x:\n    y[0] += v",
    "numbered": "for i, v in enumerate(x):\n    y[i] = v * i",
    "numbered_from": "for i, v in enumerate(x, 2):\n    y[i - 2] = v * i",
    "zipped": "for a, b in zip(x, z):\n    y[0] += a * b",
    "numbered_zip": "for i, (a, b) in enumerate(zip(x, z)):\n    y[i] = a - b",
    "shortest": "for a, b in zip(x, z[2:6]):\n    y[0] += a * b",
    "parts": "for a, b in zip(x[::2], z[1::2]):\n    y[0] += a - 2 * b",
    "rows": "for i in range(3):\n    for v in m[i]:\n        y[i] += v",
    "columns": "for j in range(4):\n    for i, v in enumerate(m[:, j]):\n        y[j] = 3 * y[j] + v",
    "backwards": "for i in reversed(range(1, 7)):\n    y[i] = y[i + 1] + x[i]",
    "backwards_elements": "for v in reversed(x):\n    y[0] = 2 * y[0] + v",
    "changed_inside": "for v in x:\n    v >>= 1\n    y[0] += v\n    x[0] = 5",
    "left": "for i, v in enumerate(x):\n    if v > 50:\n        break\n    y[i] = v\nelse:\n    y[0] = 99",
    "left_to_the_next": "for i, v in enumerate(x):\n    for w in z:\n        if w == v:\n            break\n    else:\n        continue\n    y[i] = 1",
    "range_of_constants": "for i in range(1, 7):\n    for d in (-1, 1):\n        y[i] += x[i + d]",
    "constants": "for i in range(1, 7):\n    for d, w in ((-1, 3), (0, 5), (1, 3)):\n        t = x[i + d]\n        y[i] += w * t",
    "captured_constants": "for w in W:\n    y[0] = 2 * y[0] + w * x[1]",
    "product": "for i, j in itertools.product(range(3), range(1, 4)):\n    y[i] += m[i, j]",
    "ndindex": "for i, j in np.ndindex(3, 4):\n    y[i] += m[i, j]",
    "named_numbers": "n = 4\nrows, cols = m.shape\nhalf = n // 2\nfor i in range(half, rows + cols):\n    y[i] = x[i] * n",
    "named_affine": "for i in range(3):\n    for p in range(3):\n        r = 2 * i + p - 1\n        if 0 <= r < 6:\n            y[r] += x[r] * r",
    "flags": "seen = False\nfor v in x:\n    if v == 7:\n        seen = True\nif not seen:\n    y[0] = 1",
    "membership": "for i, v in enumerate(x):\n    if v & 3 in (1, 2) and i not in (3, 4):\n        y[i] = 1\n    z[i] = v in [0, 5, i]",
    "from_the_end": "y[-1] = x[-2] + m[-1, -4]\nfor i in range(2):\n    y[i] = x[:-2][-1] if False else x[-1]",
    "divmod": "for i, v in enumerate(x):\n    q, r = divmod(v, 3)\n    y[i] = q * 100 + r\na, b = divmod(17, 5)\ny[0] = a - b",
    "letters": "for i, v in enumerate(x):\n    y[i] = v - ord('0')",
}


def written(body: str) -> str:
    lines = body.replace("\n", "\n    ")
    return f"@weft.kernel\ndef k(x: i8[8], z: i8[8], m: i8[3, 4], y: i32[8]):\n    {lines}\n"


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_mean_what_they_mean_in_python(kernel: Load, body: str) -> None:
    text = written(body)
    found = kernel(
        f"import itertools\nimport numpy as np\nfrom weft import *\nW = (5, 1, 1, 2)\n{text}"
    )
    for seed in range(3):
        assert differences(found, text, seed, itertools=itertools, W=(5, 1, 1, 2)) == []
    assert equivalence(compile_design(found.program, Schedule())).verdict == "proven"


def test_a_name_of_an_affine_expression_is_no_data(kernel: Load) -> None:
    program = kernel(written(BODIES["named_affine"])).program
    (stmt,) = program.statements()
    assert str(stmt.target) == "y[2*i + p - 1]"
    loops = [n.var for n, _ in program.walk() if isinstance(n, Loop)]
    assert loops == ["i", "p"]


def test_numpy_names_types(kernel: Load) -> None:
    text = "import numpy as np\n@weft.kernel\ndef k(x: f32[4], y: f32[4]):\n    for i in range(4):\n        y[i] = np.int16(x[i]) * np.float32(0.5)\n"
    x, y = np.array([1.75, -2.5, 3, 0], np.float32), np.zeros(4, np.float32)
    kernel(text)(x, y)
    assert y.tolist() == [0.5, -1, 1.5, 0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("for v in m:\n    y[0] += v", "v is a part of 'm', not one element"),
        ("for a, b in enumerate(zip(x)):\n    y[0] += b", ""),
        ("for a, b, c in zip(x, z):\n    y[0] += a", "zip gives an element of each of its arrays"),
        ("for c in 'abc':\n    y[0] += 1", "not over 'abc'"),
        ("for v in x[0]:\n    y[0] += v", "not over x[0]"),
        ("for a, b in ((1, 2), (3,)):\n    y[0] += a", "does not fit its variables"),
        ("for y in (1, 5, 2):\n    x[0] += y", "has the name of something else"),
        ("for v in set(x):\n    y[0] += v", "not over set(x)"),
    ],
)
def test_what_is_no_loop_is_said(error: Callable[[str], str], body: str, message: str) -> None:
    assert message in error(written(body))
