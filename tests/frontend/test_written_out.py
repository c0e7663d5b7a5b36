"""Stages of transforms, whose loops are as long as the stage says, and counters that double: what Python computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft
from tests.frontend.conftest import Load

HEAD = "@weft.kernel\ndef k(x: i32[16], y: i32[16]):\n    "
STAGES = """\
for s in range(4):
    m = 1 << s
    for g in range(0, 16, 2 * m):
        for p in range(m):
            i = g + p
            j = i + m
            t = x[j]
            x[j] = x[i] - t
            x[i] = x[i] + t
"""
BODIES = {
    "stages": STAGES,
    "names again": STAGES + STAGES.replace("range(4)", "range(3, -1, -1)").replace("x", "y"),
    "groups": "for s in range(4):\n    m = 2 << s\n    for g in range(16 // m):\n        for p in range(m // 2):\n            x[g * m + p] += y[g * m + p + m // 2]",
    "powers": "for d in range(4):\n    step = 2 ** d\n    for i in range(0, 16, 2 * step):\n        x[i] += x[i + step]",
    "slices": "for d in range(3):\n    y[: 2 ** d] = x[2 ** d : 2 * 2 ** d]\n    y[d:] += 1",
    "sieve": "for p in range(2, 5):\n    for m in range(p * p, 16, p):\n        y[m] = p",
    "generators": "for s in range(1, 4):\n    y[s] = sum(x[i] for i in range(0, 16, s))",
    "partners": "for a in range(1, 5):\n    for b in range(a - 1, -1, -1):\n        for i in range(16):\n            j = i ^ (1 << b)\n            if j > i:\n                lo, hi = min(x[i], x[j]), max(x[i], x[j])\n                up = (i >> a) & 1 == 0\n                x[i] = lo if up else hi\n                x[j] = hi if up else lo",
    "none": "for s in range(3, 3):\n    for i in range(1 << s):\n        x[i] = 0",
    "doubled": "s = 1\nwhile s < 16:\n    for i in range(16 - s):\n        x[i] += x[i + s]\n    s *= 2",
    "halved": "h = 8\nn = 0\nwhile h >= 1:\n    for i in range(h):\n        x[i] += x[i + h]\n    h >>= 1\n    n += h\ny[0] = h + n",
    "changed first": "h = 16\nwhile h > 1:\n    h //= 2\n    for i in range(h):\n        x[i] += x[i + h]\ny[1] = h",
    "counted first": "i = -1\nwhile i < 14:\n    i += 1\n    y[i] = x[i] + i\n    if x[i] > 99:\n        break\ny[15] = i",
    "of data": "for i in range(16):\n    n = x[i] & 255\n    c = 0\n    while n > 0:\n        n >>= 1\n        c += n & 1\n    y[i] = c",
    "between": "for q in range(16):\n    lo, hi = 0, 15\n    while hi - lo > 1:\n        mid = (lo + hi) // 2\n        if x[mid] <= y[q]:\n            lo = mid\n        else:\n            hi = mid\n    y[q] = lo",
    "between again": "lo = 0\nhi = 15\nwhile lo + 1 < hi:\n    mid = (lo + hi) >> 1\n    if x[mid] < 0:\n        lo = mid\n    else:\n        hi = mid - 1\ny[0] = hi * 16 + lo",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body.rstrip())


def test_copies_have_affine_subscripts(kernel: Load) -> None:
    lines = BODIES["names again"].rstrip().replace("\n", "\n    ")
    made = kernel(f"from weft import *\n{HEAD}{lines}\n")
    accesses = [s.target for s in made.program.statements() if s.target.indices]
    assert len(accesses) == 16
    assert not any(i.is_data for a in accesses for i in a.indices)
    assert "x[" in weft.compile(made).hls_cpp


TRAPS = {
    "for a in range(64):\n        for b in range(64):\n            for i in range(a * b, 16, b + 1):\n                y[i] = 1": "error[W1",
    "for s in range(65):\n        for i in range(1 << s):\n            y[0] = 1": "is no multiple of s",
    "s = x[0]\n    while s < 16:\n        s *= 2": "whose number of iterations is not known",
    "s = 0\n    while s < 16:\n        s *= 2": "whose number of iterations is not known",
    "s = 1\n    while s < 16:\n        s *= 2\n        s += 1": "whose number of iterations is not known",
}


@pytest.mark.parametrize(("body", "message"), TRAPS.items())
def test_what_is_not_clear_is_said(error: Callable[[str], str], body: str, message: str) -> None:
    assert message in error("from weft import *\n" + HEAD + body + "\n")
