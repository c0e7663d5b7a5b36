"""Loops over rows and parts of constants: what Python means by them, as loops over tables or copies of the body."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from backends.equivalence import equivalence
from dsl.programs.program import Loop
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.frontend.conftest import Load
from tests.support.as_python import differences

TABLES = {
    "ROWS": [[1, -2, 3], [4, 5, 6]],
    "UNEVEN": [[0, 3, 5], [1], [2, 4, 6, 7]],
    "PLACES": [(-1, 2), (1, 0), (0, -3)],
    "TAPS": (3, 1, -2, 5),
    "MANY": [(i * 37) % 101 - 50 for i in range(80)],
    "NUMBERS": {0: 5, 3: -2, 7: 9},
    "PLANES": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]],
    "ARRAY": np.array([[1, 2, 3], [-4, 5, 6]], np.int8),
}

BODIES = {
    "rows": "for r, row in enumerate(ROWS):\n    for c, w in enumerate(row, start=1):\n        y[r] += w * x[c]",
    "row": "for row in ROWS:\n    for k in range(3):\n        y[k] += row[k] * x[k] + row[-1] + len(row)",
    "apart": "for n, row in enumerate(ROWS):\n    a, b, c = row\n    y[n] = a * x[0] + b * x[1] - c",
    "of_a_variable": "for r in range(2):\n    for w, v in zip(ROWS[r][1:], x):\n        y[r] += w * v\n    for w in reversed(ROWS[r]):\n        y[r] = 2 * y[r] + w",
    "named_row": "for r in range(2):\n    row = ROWS[r]\n    for c in range(3):\n        y[r] += row[c] * x[c]",
    "uneven": "for n, row in enumerate(UNEVEN):\n    for m in row:\n        y[n] += x[m]",
    "pairs": "for i in range(1, 4):\n    for (d, w), t in zip(PLACES, TAPS):\n        y[i] += w * t * x[i + d]",
    "parts": "for t in TAPS[1:]:\n    y[0] = 3 * y[0] + t\nfor n, t in enumerate(TAPS[::-2]):\n    y[n + 1] = t * x[n]\nfor t in sorted(TAPS):\n    y[4] = 4 * y[4] + t",
    "many": "for v in MANY:\n    y[0] = y[0] * 3 + v\nfor n, w in enumerate(MANY):\n    y[n % 8] += w",
    "dictionary": "for k, v in NUMBERS.items():\n    y[0] += v * x[k]\nfor k in NUMBERS:\n    y[1] += k\nfor v in NUMBERS.values():\n    y[2] -= v",
    "planes": "n = 0\nfor plane in PLANES:\n    for row in plane:\n        for c, w in enumerate(row):\n            y[n] += w * x[c]\n        n += 1",
    "array": "for r, row in enumerate(ARRAY):\n    y[r] = sum(int(a) * b for a, b in zip(row, x))",
    "combinations": "for n, (a, b) in enumerate(itertools.combinations(range(4), 2)):\n    y[n] = x[a] - 2 * x[b]",
    "changed": "for n, t in enumerate(TAPS):\n    t = t + x[n]\n    t *= 2\n    y[n] = t",
    "changed_copies": "for d, w in PLACES:\n    if x[0] > w:\n        d = 3\n    y[d] += w",
    "changed_entries": "for v in MANY:\n    v = x[0] * 9 - v\n    y[0] += v",
    "left": "for row in ROWS:\n    for k, w in enumerate(row):\n        if x[k] == w:\n            continue\n        if x[k] < 2:\n            break\n        y[0] += w * x[k]\n    else:\n        y[1] += 1",
    "values": "a = x[0]\nb = x[1]\nfor n, v in enumerate([a, b, x[2]]):\n    b += 5\n    x[2] = 7\n    y[n] = v\nfor v in (a, x[3]):\n    y[4] = 2 * y[4] + v",
    "folded": "y[0] = sum(TAPS) * x[0] + max(TAPS) - min(TAPS)\ny[1] = pow(3, 5, 7)",
    "local": "rows = [[1, -2, 3], [4, 5, 6]]\nfor r, row in enumerate(rows):\n    for c, w in enumerate(row):\n        y[r] += w * x[c]",
}


def _written(body: str) -> str:
    lines = body.replace("\n", "\n    ")
    return f"@weft.kernel\ndef k(x: i8[8], y: i32[8]):\n    {lines}\n"


def _head() -> str:
    given = {n: t for n, t in TABLES.items() if n != "ARRAY"}
    text = "".join(f"{name} = {table!r}\n" for name, table in given.items())
    array = f"ARRAY = np.array({TABLES['ARRAY'].tolist()}, np.int8)\n"  # type: ignore[attr-defined]
    return f"import itertools\nimport numpy as np\nfrom weft import *\n{text}{array}"


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_mean_what_they_mean_in_python(kernel: Load, body: str) -> None:
    text = _written(body)
    found = kernel(_head() + text)
    for largest in (0, 7):
        assert differences(found, text, 1, largest, itertools=itertools, **TABLES) == []


def test_rows_are_loops_over_the_table_and_no_arrays(kernel: Load) -> None:
    for body in ("rows", "local"):
        program = kernel(_head() + _written(BODIES[body])).program
        (loop,) = program.body
        assert isinstance(loop, Loop)
        assert isinstance(loop.body[0], Loop)
        assert program.locals == ()


def test_copies_are_the_program(kernel: Load) -> None:
    program = kernel(_head() + _written(BODIES["pairs"])).program
    assert len([*program.statements()]) == 3
    assert equivalence(compile_design(program, Schedule())).verdict == "proven"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("for a, b in ROWS:\n    y[0] = a", "do not fit|does not fit"),
        (
            "for n, w in enumerate(ROWS[x[0] & 1]):\n    y[n] = w",
            "is a row of a table at a subscript",
        ),
        ("for row in ROWS:\n    row[0] = 5", "ROWS|row"),
    ],
)
def test_what_cannot_be_run_over_is_said(error: object, body: str, said: str) -> None:
    import re

    assert re.search(said, error(_head() + _written(body)))  # type: ignore[operator]
