"""Captured tables at subscripts that are no constants: a choice among their entries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from backends.equivalence import equivalence
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.frontend.conftest import Load
from tests.support.as_python import differences

TABLES = (
    "C = [1, -2, 3, 4]\nG = [[1, 2, 3], [4, 4, 4]]\nS = [(7 * n + 3) % 256 for n in range(256)]\n"
)
BODIES = {
    "a_loop": "for i in range(8):\n    y[i] = C[i // 2] * x[i]",
    "a_remainder": "for i in range(8):\n    y[i] = C[(i + 3) % 4] - C[i & 3]",
    "data": "for i in range(8):\n    y[i] = S[u[i]] + C[x[i] & 3]",
    "a_sum": "for i in range(8):\n    y[i] = sum(C[k] * x[i - k] for k in range(4) if i >= k)",
    "two_dimensions": "for i in range(2):\n    for j in range(3):\n        y[i] += G[i][j] * x[j] + G[-1][j]",
    "chosen": "for i in range(8):\n    y[i] = C[x[i]] if 0 <= x[i] < 4 else C[min(i, 3)]",
}


def written(body: str) -> str:
    lines = body.replace("\n", "\n    ")
    return f"@weft.kernel\ndef k(x: i8[8], u: u8[8], y: i32[8]):\n    {lines}\n"


@pytest.mark.parametrize("name", [n for n in BODIES if n != "chosen"])
def test_it_is_the_entry(kernel: Load, name: str) -> None:
    text = TABLES + written(BODIES[name])
    found = kernel("from weft import u8\n" + text)
    for seed in range(3):
        assert differences(found, text, seed) == []
    assert equivalence(compile_design(found.program, Schedule())).verdict == "proven"


def test_floats_and_arrays_of_numpy(kernel: Load) -> None:
    text = (
        "import numpy as np\nW = np.array([[0.25, 0.5], [1, -1]], dtype=np.float32)\n"
        "@weft.kernel\ndef k(x: f32[4], y: f32[4]):\n"
        "    for i in range(4):\n        y[i] = W[i // 2, i % 2] * x[i]\n"
    )
    x, y = np.array([1, 2, 3, 4], np.float32), np.zeros(4, np.float32)
    kernel(text)(x, y)
    assert y.tolist() == [0.25, 1, 3, -4]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            BODIES["chosen"],
            "error[W164]: the subscript x[i] of the captured table C may be -128 to 127",
        ),
        (
            "for i in range(5):\n    y[i] = C[i]",
            "error[W164]: the subscript i of the captured table C",
        ),
        (
            "for i in range(2):\n    y[i] = G[i]",
            "error[W113]: G[i] is a row of a table, not one value",
        ),
        ("for i in range(2):\n    y[i] = C[i, 0]", "error[W113]: C is no captured table"),
    ],
)
def test_what_may_be_outside_is_refused(
    error: Callable[[str], str], body: str, message: str
) -> None:
    assert message in error(f"{TABLES}from weft import u8\n{written(body)}")
