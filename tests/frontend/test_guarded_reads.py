"""Choices and conditions that guard a read, ``x[i - 1] if i > 0 else 0``: what Python computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dsl.errors.errors import LanguageError
from polyhedral.legality.program import check_program
from tests.frontend.conftest import Load

HEAD = "@weft.kernel\ndef k(x: i32[16], y: i32[16]):\n    "
BODIES = {
    "whole": "for i in range(16):\n    y[i] = x[i - 1] if i > 0 else 7",
    "part": "for i in range(16):\n    y[i] = x[i] - (x[i - 1] if i >= 1 else 0) * (x[i + 1] if i < 15 else x[i] + 1)",
    "update": "for i in range(16):\n    y[i] += x[i + 3] if not i + 3 >= 16 else 1",
    "with data": "for i in range(16):\n    y[i] = x[i - 2] if i > 1 and x[i - 2] > 3 else x[0]\n    y[i] += 1 if i < 2 or x[i - 2] < 0 else 2",
    "nested": "for i in range(4):\n    for j in range(4):\n        y[4 * i + j] = (x[4 * i + j - 5] if j > 0 else 1) if i > 0 else (x[j - 1] if j else 2)",
    "function": "at = lambda n: x[n] if 0 <= n < 16 else 0\nfor i in range(16):\n    y[i] = at(i - 1) - 2 * at(i) + at(i + 1)",
    "sum": "for i in range(16):\n    y[i] = sum(x[k] if k < 16 else 1 for k in range(i, i + 3))",
    "kept truth": "for i in range(16):\n    f = i > 0 and x[i - 1] > 5\n    g = i == 15 or x[i + 1] < 3\n    y[i] = (1 if f else 2) + (4 if g else 8)",
    "one iteration": "for r in range(1):\n    for i in range(16):\n        y[i] = (x[i - 16 + 16 * r] if r > 0 else 3) - (2 if r == 0 else x[i + 16 * r])",
    "values": "for i in range(16):\n    y[i] = (i and x[i - 1]) or 5\n    y[i] += (x[i] > 3 and x[i]) + (x[i] % 3 or i % 2 or 9) + np.where(x[i] & 1, 2, 7)",
    "number first": "for i in range(16):\n    last = 3 if i < 6 else x[i - 6]\n    y[i] = last\n    more = x[i + 2] if i < 14 else i\n    y[i] += more",
    "wrapped": "for i in range(16):\n    after = i + 1 if i < 15 else 0\n    y[i] = x[after] + x[i - 1 if i > 0 else 15]",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_compute_what_python_does(as_in_python: Callable[[str, str], None], body: str) -> None:
    as_in_python(HEAD, body)


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(16):\n        y[i] = x[i - 1] if i >= 0 else 0",
        "for i in range(16):\n        y[i] = x[i - 1] if x[i] > 0 else 0",
        "for i in range(16):\n        y[i] = (x[i - 1] if i < 9 else 0) if i > 3 else x[i - 4]",
    ],
)
def test_what_no_condition_keeps_inside_is_refused(kernel: Load, body: str) -> None:
    made = kernel("from weft import *\n" + HEAD + body + "\n")
    with pytest.raises(LanguageError, match="is out of bounds"):
        check_program(made.program)
