"""Assignments to parts of arrays: what NumPy makes of them, also where they overlap what is read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.equivalence import equivalence
from dsl.programs.program import Storage
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.frontend.conftest import Load
from tests.support.as_python import differences

BODIES = {
    "constants": "y[:] = 0\ny[2:6] = 5\ny[...] = 3\ny[1] = 4",
    "copied": "y[2:6] = x[0:4]\ny[::2] = x[4:]\ny[6:] = m[0, 1:3]",
    "computed": "y[1:8] = x[1:8] * 3 - x[0:7]",
    "rows": "for r in range(3):\n    y[0:4] += m[r]\n    m[r] = x[2 * r:2 * r + 4]",
    "columns": "for c in range(4):\n    m[:, c] = x[c:c + 3] - m[:, 3 - c]",
    "spread": "m[:, :] = x[0:4]\nm[1:3, 2:4] = x[5]",
    "whole": "y += 1\nm *= 2\ny[:] -= x",
    "shifted": "x[1:] = x[:-1]\ny[:-1] = y[1:]",
    "less_the_first": "x[:] = x[:] - x[0]",
    "interleaved": "y[::2] += y[1::2]\ny[0:4] = y[4:8]",
    "of_all_it_overwrites": "x[1:3] = x[1:3] + x[2:4] - x[0:2]",
    "turned": "m[0:3, 0:3] = m[0:3, 1:4] + m[0, 0]",
    "functions": "y[:] = abs(x) + len(x) + max(x) - (x[:] > 3)",
    "chosen": "for i in range(8):\n    y[0:4] = x[0:4] if i < 2 else -x[4:8]",
    "under_a_condition": "for i in range(4):\n    if x[i] > 0:\n        y[i:i + 4] = x[i:i + 4] + i",
}


def written(body: str) -> str:
    lines = body.replace("\n", "\n    ")
    return f"@weft.kernel\ndef k(x: i8[8], m: i8[3, 4], y: i32[8]):\n    {lines}\n"


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_they_do_what_numpy_does(kernel: Load, body: str) -> None:
    found = kernel(written(body))
    for seed in range(3):
        assert differences(found, written(body), seed) == []
    assert equivalence(compile_design(found.program, Schedule())).verdict == "proven"


@pytest.mark.parametrize(("name", "count"), [("computed", 0), ("whole", 0), ("shifted", 2)])
def test_a_copy_is_made_where_it_is_needed(kernel: Load, name: str, count: int) -> None:
    program = kernel(written(BODIES[name])).program
    assert sum(a.storage is Storage.LOCAL for a in program.arrays) == count


def test_locals_of_one_name_are_told_apart(kernel: Load) -> None:
    """Also those of sibling loops that are passed to other kernels, whole or in part."""
    text = (
        "@weft.kernel\ndef add(t: i32[4], y: i32[4]):\n    y += t\n\n"
        "@weft.kernel\ndef k(x: i8[4], y: i32[4]):\n"
        "    for i in range(4):\n        t: i32[4]\n        t[:] = x[i]\n        add(t, y)\n"
        "    for i in range(4):\n        t: i32[4]\n        t[:] = x\n        t[1:3] *= 2\n        add(t[:], y)\n"
    )
    plain = text.replace("t: i32[4]\n        t[:]", "t = np.zeros(4, object)\n        t[:]")
    assert differences(kernel(text), plain) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "y[0:3] = x[0:4]",
            "error[W142]: x[0:4] has the shape (4,), and is assigned to one of (3,)",
        ),
        ("y[0:3] = m", "error[W142]: m has the shape (3, 4), and is assigned to one of (3,)"),
        ("y = x", "error[W142]: 'y' is an array of type i32[8], and is not assigned as a whole"),
        ("with weft.stmt('a'):\n        y[:] = 0", "error[W110]: weft.stmt names one assignment"),
        ("y[7:9] = 0", "error[W151]: the slice 7:9 leaves 'y'"),
    ],
)
def test_what_does_not_go_is_said(error: Callable[[str], str], body: str, message: str) -> None:
    assert message in error(written(body))
