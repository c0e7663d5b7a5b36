"""Loops over ranges of data, sums of slices of any length, and reads that a choice guards: what Python computes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import weft
from dsl.errors.errors import WeftError
from tests.frontend.conftest import Load

HEAD = "from weft import u4\n\n\n@weft.kernel\ndef k(n: u4[8], m: u4[8], x: i8[16], A: i8[8, 8], y: i32[8]):\n    "
BODIES = {
    "from a minimum": "for i in range(8):\n    for j in range(min(i, 7 - i), max(i, 3) + 1):\n        y[j] += x[j] * i\n"
    "        if x[j] > 90:\n            break",
    "down to a minimum": "for i in range(8):\n    for j in range(max(i, 3), min(i, 5) - 1, -1):\n        y[j] = y[i] - x[j]",
    "named limits": "for i in range(8):\n    lo = max(0, i - 3)\n    for j in range(lo, min(i + 2, 8)):\n        y[i] += x[j] * (j - lo)",
    "stop": "for i in range(8):\n    for j in range(n[i]):\n        if x[j] < 0:\n            break\n        y[i] += x[j]\n    else:\n        y[i] += 1000",
    "start": "for i in range(8):\n    for j in range(n[i], 16):\n        y[i] += x[j] * j",
    "both": "for i in range(7):\n    for j in range(n[i], min(n[i + 1], n[i] + 3)):\n        y[i] = y[i] * 3 + x[j]",
    "down": "for i in range(8):\n    for j in range(n[i], m[i], -2):\n        if x[j] < 0:\n            continue\n        y[i] = y[i] * 3 + x[j]",
    "changed": "for i in range(8):\n    e = n[i]\n    for j in range(e):\n        e = 3\n        n[i] = 0\n        y[i] += x[j] + e",
    "nested": "for i in range(7):\n    for j in range(n[i + 1], n[i]):\n        for h in range(j, n[i]):\n            y[i] -= x[j] * x[h]",
    "of a sum": "y[0] = sum(x[h] for h in range(n[0]))",
    "guarded": "for i in range(8):\n    before = x[i - 1] if i > 0 else 0\n    y[i] = x[i] - before + (A[i, i + 1] if i < 7 else 5)",
    "guarded tests": "for i in range(8):\n    if (A[i - 1, 0] if i > 0 and A[i - 1, 0] > 3 else 0) > x[i]:\n        y[i] += max(A[i + 1, 2] if i + 1 < 8 else 7, 2)\n    elif (A[i + 1, 1] if i < 7 else 2) > 1:\n        y[i] = 3",
    "guarded divisor": "for i in range(8):\n    y[i] = A[i + 1, 0] // (x[i] if x[i] != 0 else 1) if i < 7 else 1",
}
RETURNS = {
    "after statements": "t = v * 2\n    if t > 9:\n        t = 8\n    return t",
    "of another": "if v > 3:\n        return 2\n    return twice(v)",
    "in a loop": "for h in range(4):\n        if v == h:\n            return h\n    t = v + 1\n    if t > 5:\n        return t\n    return twice(t)",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


@pytest.mark.parametrize("body", RETURNS.values(), ids=RETURNS.keys())
def test_helpers_that_return_early_compute_what_python_does(
    as_in_python: Callable[[str, str], None], body: str
) -> None:
    twice = "def twice(v):\n    w = v * 2\n    if w > 7:\n        w -= 1\n    return w\n\n"
    early = f"def early(v):\n    if v > 5:\n        return 1\n    {body}\n\n"
    as_in_python(twice + early + HEAD, "for i in range(8):\n    y[i] = early(x[i])")


SLICES = """
import numpy as np
from weft import *


@weft.kernel
def k(A: i8[8, 8], x: i8[8], y: i32[8]):
    for i in range(7):
        y[i] = A[i, :i] @ x[:i] + np.dot(A[i + 1 :, i], x[: 7 - i]) - sum(x[i:])
        y[i] += (A[i, :i] * 2 - x[7 - i : 7] * A[i, i]).sum() + np.sum(A[i, i + 1 :] * x[i + 1 :])
    a, b = x.copy(), x[::-1] * 2
    y[7] = a[1] + b[2] + np.abs(x)[3] + (x + A[0])[4]
    for i in range(8):
        y[i] += (x * 2)[i]
        bits = A[i, 0].bit_count()
        y[i] += bits
"""


def test_sums_of_slices_of_any_length(kernel: Load) -> None:
    rng = np.random.default_rng(0)
    A, x = rng.integers(-128, 128, (8, 8)), rng.integers(-128, 128, 8)
    y = np.zeros(8, np.int32)
    kernel(SLICES)(A.astype(np.int8), x.astype(np.int8), y)
    expected = []
    for i in range(8):
        total = 0
        if i < 7:
            total = A[i, :i] @ x[:i] + A[i + 1 :, i] @ x[: 7 - i] - sum(x[i:])
            total += (A[i, :i] * 2 - x[7 - i : 7] * A[i, i]).sum() + A[i, i + 1 :] @ x[i + 1 :]
        else:
            total = x[1] + 2 * x[5] + abs(x[3]) + (x + A[0])[4]
        expected.append(total + 2 * x[i] + bin(A[i, 0]).count("1"))
    assert y.tolist() == expected


REFUSED = {
    "for i in range(v):\n        y[0] += x[i & 7]": "W141",
    "for i in range(v, 4):\n        y[0] += x[i & 7]": "W141",
    "for i in range(n[0], n[1]):\n        y[0] += y[i] if x[i & 7] > 0 else 0": "W164",
    "for i in range(n[0]):\n        if x[i & 7] > 0:\n            y[0] += y[i]": "W160",
    "for i in range(v, 4):\n        i += 1\n        y[0] += y[i]": "W141",
}


ROWS = """
from weft import *

ONCE = 1


@weft.kernel
def k(row: i32[5], column: u8[10], value: i32[10], x: i32[8], y: i32[4]):
    for r in range(4):
        y[r] = 0
        for h in range(row[r], row[r + 1]):
            for _ in range(ONCE):
                y[r] += value[h] * x[column[h] & 7]
        for h in range(row[r + 1] - 1, row[r] - 1, -1):
            y[r] = 3 * y[r] + value[h]
"""


def test_rows_are_inside_of_what_they_are_read_from(kernel: Load) -> None:
    """As long as the arrays are, whatever the bounds say, so that no design reads outside."""
    found = kernel(ROWS)
    rng = np.random.default_rng(1)
    column, value, x = (rng.integers(0, 8, n) for n in (10, 10, 8))
    for row in ([0, 3, 3, 9, 10], [2**31 - 1, -(2**31), 12, -3, 2**31 - 1]):
        y = np.zeros(4, np.int32)
        parts = (np.array(row, np.int32), column.astype(np.uint8))
        found(*parts, value.astype(np.int32), x.astype(np.int32), y)
        expected = []
        for first, end in itertools.pairwise(row):
            inside = range(max(first, 0), min(end, 10))
            total = sum(int(value[h] * x[column[h]]) for h in inside)
            for h in reversed(inside):
                total = 3 * total + int(value[h])
            expected.append((total + 2**31) % 2**32 - 2**31)
        assert y.tolist() == expected


@pytest.mark.parametrize(("body", "code"), REFUSED.items())
def test_what_may_run_for_too_long_or_leave_an_array_is_refused(
    kernel: Load, body: str, code: str
) -> None:
    with pytest.raises(WeftError) as caught:
        weft.compile(
            kernel(
                f"from weft import *\nfrom weft import u4\n@weft.kernel\ndef k(v: i32, n: u4[8], x: i8[16], y: i32[8]):\n    {body}\n"
            )
        )
    assert caught.value.code == code
