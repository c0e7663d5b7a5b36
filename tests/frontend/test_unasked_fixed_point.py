"""Integers next to fractions in kernels without fixed point: what is not exact there is a float, as in Python."""

from __future__ import annotations

import numpy as np

from dsl import interp
from dsl.expressions.types import f32

HEAD = "import math\nfrom weft import f32, fixed, i16\ndef third(v):\n    t = v / 3\n    if t > 1000:\n        t = 0\n    return t\n"
KERNEL = (
    HEAD + "@weft.kernel\ndef k(n: i16[8], x: f32[8], y: f32[8]):\n    for i in range(8):\n        "
)


def results(kernel, body):
    n = np.arange(-4, 4, dtype=np.int16)
    given = {"n": n, "x": np.ones(8, np.float32), "y": np.zeros(8, np.float32)}
    return interp.run(kernel(KERNEL + body.replace("\n", "\n        ") + "\n").program, given)["y"]


def test_a_half_is_kept_by_quotients(kernel):
    found = results(
        kernel,
        "r = max((i + 0.5) / 2 - 0.5, 0.0)\ny[i] = (r - int(r)) + (n[i] - 0.25) / -0.5 + n[i] / 8.0",
    )
    i, n = np.arange(8), np.arange(-4, 4)
    r = np.maximum((i + 0.5) / 2 - 0.5, 0)
    assert np.array_equal(found, (r - np.floor(r)) + (n - 0.25) / -0.5 + n / 8)


def test_other_quotients_are_floats(kernel):
    found = results(
        kernel,
        "y[i] = third(i + 0.5) + 2 / (n[i] + 0.5) - 0.5 / (i + 1) + n[i] / 3.0 + (n[i] + 0.5) / (i + 1)",
    )
    i, n = np.arange(8), np.arange(-4, 4)
    assert np.allclose(
        found, (i + 0.5) / 3 + 2 / (n + 0.5) - 0.5 / (i + 1) + n / 3 + (n + 0.5) / (i + 1)
    )


def test_a_local_that_is_assigned_anew_is_a_float(kernel):
    body = "a = n[i] * 0.5\nfor j in range(3):\n    a = a * 0.5 + 1\ny[i] = a"
    assert np.array_equal(results(kernel, body), np.arange(-4, 4) / 16 + 1.75)
    program = kernel(KERNEL + body.replace("\n", "\n        ")).program
    assert program.array("a").dtype == f32


def test_sums_of_fractions_and_quotients_of_integers(kernel):
    body = "s = 0.0\nfor j in range(4):\n    s += (j + 0.5) * n[i]\ny[i] = s + i / 4 + n[i] / 5 + n[i] / 16.0 + 1.0 / 3"
    i, n = np.arange(8), np.arange(-4, 4)
    assert np.allclose(results(kernel, body), 8 * n + i / 4 + n / 5 + n / 16 + 1 / 3)


def test_elements_that_are_assigned_anew_are_floats(kernel):
    body = "t = n * 0.5\nt[i] = t[i] * 0.5\ny[i] = t[i] + (x - n * 0.5)[0]"
    assert np.array_equal(results(kernel, body), np.arange(-4, 4) / 4 + 3)


def test_fixed_point_that_was_asked_for_keeps_its_rules(kernel):
    body = "b: fixed[20, 10] = n[i]\nr = (i + 0.5) / 2\ny[i] = f32(r) + f32(b)"
    assert np.array_equal(results(kernel, body)[:2], [-4, -2.5])
