"""Sums, extremes and truths of arrays and generators: what Python computes, in a type that holds it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from backends.equivalence import equivalence
from dsl.expressions.types import DType, IntType
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.frontend.conftest import Load
from tests.support.as_python import differences

BODIES = {
    "sum": "y[0] = sum(x[i] * z[i] for i in range(8))",
    "several": "y[0] = 2 * sum(x) - sum(z[::2]) + max(m[1])",
    "with_conditions": "y[0] = sum(v for v in x if v > 3 if v & 1)\ny[1] = sum(1 for v in x if v in (3, 4))",
    "triangular": "y[0] = sum(m[r, i] > m[r, j] for r in range(3) for i in range(4) for j in range(i))",
    "extremes": "y[0] = max(x[i] - x[i - 1] for i in range(1, 8)) + min(abs(v) for v in x)",
    "truths": "y[0] = any(v > 100 for v in x)\ny[1] = all(v & 64 for v in x)\ny[2] = not any(x)",
    "in_a_loop": "for r in range(3):\n    y[r] = sum(m[r]) if r > 1 else max(m[r])",
    "in_a_condition": "if sum(v * v for v in x) > 9000 and x[0] > 0:\n    y[0] = sum(sum(m[r]) for r in range(3))",
    "listed": "y[0] = max([v ^ 3 for v in x])",
}


def written(body: str) -> str:
    lines = body.replace("\n", "\n    ")
    return f"@weft.kernel\ndef k(x: i8[8], z: i8[8], m: i8[3, 4], y: i32[8]):\n    {lines}\n"


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_mean_what_they_mean_in_python(kernel: Load, body: str) -> None:
    found = kernel(written(body))
    for seed in range(3):
        assert differences(found, written(body), seed) == []
    assert equivalence(compile_design(found.program, Schedule())).verdict == "proven"


@pytest.mark.parametrize(
    ("body", "dtype"),
    [
        ("y[0] = sum(x)", IntType(11)),  # 8 terms of 8 bits
        ("y[0] = sum(x[i] * z[i] for i in range(5))", IntType(19)),
        ("y[0] = sum(v > 0 for v in x)", IntType(4, signed=False)),
        ("y[0] = max(x)", IntType(8)),
    ],
)
def test_a_sum_is_as_wide_as_its_terms_need(kernel: Load, body: str, dtype: DType) -> None:
    (scalar, *_) = kernel(written(body)).program.locals
    assert scalar.dtype == dtype


def test_floats_and_fixed_point(kernel: Load) -> None:
    text = (
        "@weft.kernel\ndef k(x: f32[4], q: fixed[8, 4][4], y: f32[3], f: fixed[16, 8][2]):\n"
        "    y[0] = sum(x)\n    y[1] = min(x)\n    y[2] = max(v for v in x if v > 100.0)\n"
        "    f[0] = sum(q)\n    f[1] = max(q)\n"
    )
    x, q = np.array([1, -2.5, 3, 4], np.float32), np.array([120, 120, -8, 16], np.int8)
    y, f = np.zeros(3, np.float32), np.zeros(2, np.int16)
    kernel(text)(x, q, y, f)
    assert y.tolist() == [5.5, -2.5, -np.inf]  # no term at all: what any term is larger than
    assert f.tolist() == [(120 + 120 - 8 + 16) * 16, 120 * 16]


def test_what_is_no_loop_is_said(error: Callable[[str], str]) -> None:
    assert "error[W109]: " in error(written("y[0] = sum(y[0])"))
    assert "error[W150]: sum() of a loop takes one argument" in error(written("y[0] = sum(x, 3)"))
    early = error(written("y[0] = sum(v // x[0] for v in x) if x[0] != 0 else 0"))
    assert "error[W153]: sum(v // x[0] for v in x) is computed on a condition" in early


def test_variables_of_generators_end_with_them(kernel: Load) -> None:
    body = "t = x[1]\n    y[0] = sum(t * t for t in z)\n    y[1] = sum(sum(t for t in x) * t for t in z)\n    y[2] = t"
    text = f"@weft.kernel\ndef k(x: i8[8], z: i8[8], y: i32[8]):\n    {body}\n"
    assert differences(kernel(text), text) == []
