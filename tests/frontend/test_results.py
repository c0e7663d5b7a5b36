"""Kernels with a result, called in expressions: what they compute is what Python computes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from backends.equivalence import equivalence
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.frontend.conftest import Load
from tests.support.as_python import differences

HELPERS = """\
@weft.kernel
def sign(x: i8) -> i8:
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0

@weft.kernel
def place(x: i8[8], key: i8) -> i32:
    for i in range(8):
        if x[i] == key:
            return i
    return -1

@weft.kernel
def turned(x: i8, y: i8, flip: i8) -> tuple[i32, i32]:
    if flip:
        if x > y:
            return y, x
    return x, y

@weft.kernel
def taken(x: i8[8], at: i32) -> i8:
    x[at & 7] = x[at & 7] >> 1
    return x[at & 7]

@weft.kernel
def quotient(a: i8, b: i8) -> i32:
    return a // b

@weft.kernel
def total(x: i8[4]) -> i32:
    s: i32 = 0
    for i in range(4):
        s += x[i]
    return s
"""

BODIES = {
    "in_expressions": "for i in range(8):\n    y[i] = sign(x[i]) * 3 + sign(sign(x[i]) - 1)",
    "from_a_loop": "for i in range(8):\n    y[i] = place(x, x[7 - i]) - place(x, 100)",
    "several": "for i in range(8):\n    a, b = turned(x[i], z[i], z[i] & 1)\n    y[i] = 3 * a - b",
    "into_elements": "for i in range(4):\n    y[2 * i], y[2 * i + 1] = turned(x[i], z[i], i)",
    "exchanged": "for i in range(8):\n    x[i], z[i] = sign(z[i]), sign(x[i])",
    "under_a_condition": "for i in range(8):\n    if sign(x[i]) > 0 and i > 2:\n        y[i] = sign(z[i])\n    else:\n        y[i] = 7",
    "not_taken": "for i in range(8):\n    if z[i] != 0:\n        y[i] = quotient(x[i], z[i])",
    "chosen": "for i in range(8):\n    y[i] = sign(x[i]) if z[i] > 0 else sign(z[i]) - 4",
    "writing": "for i in range(8):\n    v = taken(x, z[i])\n    y[i] = v",
    "writing_before_a_subscript": "for i in range(4):\n    y[place(x, z[i]) & 7] = taken(x, z[i])",
    "of_parts": "for i in range(2):\n    y[i] = total(x[4 * i:4 * i + 4]) + total(z[::2])",
    "truth": "for i in range(8):\n    y[i] = (1 if x[i] & 4 and not z[i] & 1 else 0) + (2 if not x[i] or z[i] else 0)",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_calls_mean_what_they_mean_in_python(kernel: Load, body: str) -> None:
    lines = body.replace("\n", "\n    ")
    text = f"{HELPERS}\n@weft.kernel\ndef k(x: i8[8], z: i8[8], y: i32[8]):\n    {lines}\n"
    found = kernel(text)
    for seed in range(3):
        assert differences(found, text, seed) == []
    assert equivalence(compile_design(found.program, Schedule())).verdict == "proven"


@pytest.mark.parametrize("name", ["sign", "place", "turned", "taken"])
def test_a_result_is_an_array_of_one_element(kernel: Load, name: str) -> None:
    found = kernel(HELPERS, name)
    for seed in range(3):
        assert differences(found, HELPERS, seed) == []
    assert [a.shape for a in found.program.arguments][-1] == (1,)


def test_a_kernel_that_is_called_from_python_returns_it(kernel: Load) -> None:
    assert kernel(HELPERS, "sign")(-3) == -1
    assert kernel(HELPERS, "turned")(5, 2, 1) == (2, 5)
    out = np.zeros(1, np.int8)
    assert kernel(HELPERS, "sign")(7, out) is None
    assert out[0] == 1


def test_what_a_call_might_do_too_soon_is_refused(error: Callable[[str], str]) -> None:
    head = f"{HELPERS}\n@weft.kernel\ndef k(x: i8[8], z: i8[8], y: i32[8]):\n    "
    early = error(f"{head}y[0] = x[0] + taken(x, z[0])\n")
    assert "error[W153]: 'taken' writes 'x', and is called inside of an expression" in early
    later = error(
        f"{head}y[0], y[total(y[0:4]) & 7] = 1, 2\n".replace(
            "x: i8[4]) -> i32:\n    s", "x: i32[4]) -> i32:\n    s"
        )
    )
    assert "error[W153]: y[total(y[0:4]) & 7] is found before 'y' is assigned" in later
    failing = error(f"{head}y[0] = quotient(x[0], z[0]) if z[0] != 0 else 0\n")
    assert "error[W153]: quotient(x[0], z[0]) is computed on a condition" in failing


def test_arguments_that_are_not_passed_have_their_default_values(kernel: Load) -> None:
    text = """\
@weft.kernel
def scaled(x: i8, by: i8 = 3, *, more: i32 = 1) -> i32:
    return x * by + more

@weft.kernel
def k(x: i8[8], y: i32[8]):
    for i in range(8):
        y[i] = scaled(x[i]) + scaled(x[i], i, more=7) + scaled(x[i], by=2)
"""
    found = kernel(text)
    assert differences(found, text) == []
    assert kernel(text, "scaled")(5) == 16
    assert kernel(text, "scaled")(5, more=0) == 15


ARRAYS = """\
@weft.kernel
def product(a: i8[3, 4], b: i8[4, 3]) -> i32[3, 3]:
    return a @ b

@weft.kernel
def sorted2(a: i8[4]) -> tuple[i8[4], i32]:
    t = a.copy()
    swaps = 0
    for i in range(3):
        for j in range(3):
            if t[j] > t[j + 1]:
                t[j], t[j + 1] = t[j + 1], t[j]
                swaps += 1
    return t, swaps

@weft.kernel
def early(a: i8[4], n: i32) -> i8[4]:
    if n > 2:
        return a // 2
    t = [0] * 4
    t[n & 3] = a[0]
    return t

@weft.kernel
def k(x: i8[8], m: i8[3, 4], n: i8[4, 3], y: i32[8], q: i32[3, 3]):
    c = product(m, n)
    q[:] = c + product(m, n) * 2
    q += product(m, n) @ c
    s, w = sorted2(x[:4])
    y[:4] = s
    y[4] = w
    for i in range(3):
        r = early(m[i], x[i])
        y[i] += r[1] + early(m[i], i)[0]
"""


@pytest.mark.parametrize("name", ["product", "sorted2", "early", "k"])
def test_results_that_are_arrays(kernel: Load, name: str) -> None:
    found = kernel(f"import numpy as np\nfrom weft import *\n{ARRAYS}", name)
    for seed in range(2):
        assert differences(found, ARRAYS, seed) == []


def test_arrays_that_are_returned_to_python(kernel: Load) -> None:
    found = kernel(f"import numpy as np\nfrom weft import *\n{ARRAYS}", "sorted2")
    values, swaps = found(np.array([3, 1, 2, 0], np.int8))
    assert values.tolist() == [0, 1, 2, 3]
    assert swaps == 5
