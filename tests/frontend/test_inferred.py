"""Types of locals that say a literal at first: found by what is assigned further on, and what Python computes then."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
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


def test_floats_of_literals_are_as_the_arguments(kernel: Load) -> None:
    """Of one float type they have, that one; products of literals with integers too."""
    made = kernel(
        "@weft.kernel\ndef k(x: f64[8], y: f64[8]):\n    a, b = 0.0, 1.0\n    for i in range(8):\n"
        "        b = b * 0.9\n        a = a + b\n        y[i] = a + 0.1 * i + 3.1 * x[i]\n"
    )
    assert {str(a.dtype) for a in made.program.locals} == {"f64"}
    x, y = np.arange(8.0), np.zeros(8)
    made(x, y)
    b = np.cumprod(np.full(8, 0.9))
    assert np.allclose(y, np.cumsum(b) + 0.1 * np.arange(8) + 3.1 * x, rtol=1e-12)


@pytest.mark.parametrize(("mode", "raw"), [("trn", -2488), ("rnd", -2487), ("trn_zero", -2487)])
def test_fractions_are_rounded_as_the_type_says(kernel: Load, mode: str, raw: int) -> None:
    """-0.6072 is -2487.09 steps of a fixed[16, 4]."""
    made = kernel(
        f"@weft.kernel\ndef k(y: fixed[16, 4, '{mode}', 'sat'][2]):\n"
        f"    t: fixed[16, 4, '{mode}', 'sat'] = -0.6072\n    y[0] = t\n    y[1] = -0.6072\n"
    )
    y = np.zeros(2, np.int16)
    made(y)
    assert list(y) == [raw, raw]


def test_fractions_out_of_range_are_refused(error: Callable[[str], str]) -> None:
    said = error("@weft.kernel\ndef k(y: fixed[8, 4][2]):\n    y[0] = 8.1\n")
    assert "error[W122]: the literal 8.1 has no exact fixed-point type here" in said
