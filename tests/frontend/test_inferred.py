"""Types of locals that say a literal at first: found by what is assigned further on, and what Python computes then."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.frontend.conftest import Load
from tests.support.as_python import differences

HEAD = "@weft.kernel\ndef k(x: i8[8], z: i8[8], y: i32[8]):\n    "
BODIES = {
    "sum": "s = 0\nfor v in x:\n    s += v\ny[0] = s",
    "wide_sum": "s = 0\nfor i in range(8):\n    s = s + x[i] * z[i] * x[7 - i] * z[3]\ny[0] = s",
    "counted": "n = 0\nfor v in x:\n    n += v > 3\ny[0] = n",
    "arg_max": "best = x[0]\nat = 0\nfor i, v in enumerate(x):\n    if v > best:\n        best, at = v, i\ny[0], y[1] = best, at",
    "flag": "seen = False\nfor v in x:\n    seen = seen or v == 7\ny[0] = seen",
    "choice": "for i in range(8):\n    v = 1 if x[i] > 0 else 0\n    v += 1\n    y[i] = v * 4",
    "each_other": "a, b = 0, 1\nfor i in range(8):\n    y[i] = a\n    a, b = b, a + b",
    "through_another": "a = 0\nb = 0\nfor v in x:\n    b = a + v\n    a = b - 1\ny[0] = a",
    "checksum": "crc = 0xFFFFFFFF\nfor v in x:\n    crc = crc ^ (v & 255)\n    for _ in range(8):\n        crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)\ny[0] = crc ^ 0xFFFFFFFF",
    "in_a_loop": "for i in range(4):\n    s = 0\n    for j in range(i):\n        s += x[j]\n    y[i] = s",
    "in_branches": "for i in range(8):\n    if x[i] > z[i]:\n        v = 3\n    else:\n        v = -3\n    y[i] = v * x[i]",
    "copies": "for w in (1, 5, 2):\n    s = 0\n    for v in x:\n        s += v * w\n    y[w] = s",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(kernel: Load, body: str) -> None:
    text = HEAD + body.replace("\n", "\n    ") + "\n"
    found = kernel("from weft import *\n" + text)
    for seed in range(3):
        assert differences(found, text, seed) == []


TYPES = {
    "f32": "for i in range(8):\n    s += f[i]",
    "f64": "for i in range(8):\n    s = s + f[i] * d[i]",
    "i32": "for i in range(8):\n    s += 3",
    "i65": "for i in range(8):\n    s += w[i]",
    "i33": "s = max(s, u[0])",
    "u1": "s = f[0] > 2.0",
}


@pytest.mark.parametrize(("dtype", "body"), TYPES.items())
def test_their_types_hold_what_is_assigned(kernel: Load, dtype: str, body: str) -> None:
    first = "False" if dtype == "u1" else "0"
    lines = f"s = {first}\n{body}\ny[0] = s".replace("\n", "\n    ")
    text = f"from weft import *\n@weft.kernel\ndef k(f: f32[8], d: f64[8], w: u64[8], u: u32[8], y: f64[8]):\n    {lines}\n"
    local = next(a for a in kernel(text).program.locals if a.name == "s")
    assert str(local.dtype) == dtype


def test_what_is_not_clear_is_asked_for(error: Callable[[str], str]) -> None:
    head = "@weft.kernel\ndef k(x: fixed[16, 4][8], y: fixed[16, 4][8]):\n    "
    sums = error(f"{head}s = 0.0\n    for v in x:\n        s += v\n    y[0] = s\n")
    assert "error[W129]: the type of 's' is not clear: it is fixed point" in sums
    assert "help: say it: s: fixed[32, 16] = ..." in sums
