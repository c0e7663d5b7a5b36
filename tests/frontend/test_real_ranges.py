"""Ranges of fractions: subscripts that are computed from them, and what Python's roundings mean of fixed point."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping

import numpy as np
import pytest

from dsl.errors.errors import LanguageError
from dsl.expressions.expr import Index
from dsl.expressions.value_range import type_range, value_range
from dsl.interp import run
from polyhedral.legality.program import check_program
from tests.frontend.conftest import Load
from tests.support.as_python import differences

HEAD = "import math\nimport numpy as np\nfrom weft import *\n"


def _kernel(body: str, args: str = "x: f32[16], y: f32[16], u: f32") -> str:
    lines = body.replace("\n", "\n    ")
    return f"{HEAD}\n@weft.kernel\ndef k({args}):\n    {lines}\n"


INSIDE = {
    "scaled": "for i in range(16):\n    y[i] = x[int(i * 0.7)]",
    "rounded": "for i in range(10):\n    y[i] = x[round(i * 1.6)] + x[math.floor(i * 1.6)] + x[math.ceil(i * 1.6)]",
    "limited": "v = min(max(u, 0.0), 1.0) * 15.0\nk = int(v)\ny[0] = x[k] + (v - k)",
    "limited_by_conditions": "v = u\nif v < 0.0:\n    v = 0.0\nif v > 15.0:\n    v = 15.0\ny[0] = x[int(v)]",
    "conditional": "if 0 <= u < 16:\n    y[0] = x[int(u)]\nif -0.5 <= u and u < 15.5:\n    y[1] = x[math.floor(u + 0.5)]",
    "interpolated": "for i in range(16):\n    p = i * 15 / 16\n    j = math.floor(p)\n    y[i] = x[j] * (1 - (p - j)) + x[j + 1] * (p - j)",
    "of_functions": "for i in range(16):\n    y[i] = x[int(math.sqrt(i * 14.0))] + x[int((math.sin(u) + 1) * 7.5)]",
}


@pytest.mark.parametrize("body", INSIDE.values(), ids=INSIDE.keys())
def test_subscripts_of_fractions_are_inside(kernel: Load, body: str) -> None:
    check_program(kernel(_kernel(body)).program)


@pytest.mark.parametrize(
    "body",
    [
        "y[0] = x[int(u)]",
        "y[0] = x[int(min(max(u, 0.0), 16.0))]",
        "y[0] = x[math.floor(min(max(u, -0.1), 3.0))]",
        "if 0 <= u <= 16:\n    y[0] = x[int(u)]",
        "y[0] = x[round(min(max(u, 0.0), 15.6))]",
        "s = 0.0\nfor i in range(16):\n    y[i] = x[int(s)]\n    s += 1.5",
    ],
)
def test_others_are_refused(kernel: Load, body: str) -> None:
    with pytest.raises(LanguageError, match="which may be"):
        check_program(kernel(_kernel(body)).program)


def test_roundings_of_fixed_point_are_those_of_python(kernel: Load) -> None:
    body = "for i in range(40):\n    p = (i - 20) * 0.25 + (x[i] & 1) * 0.5\n" + "".join(
        f"    y[i, {n}] = {f}(p)\n"
        for n, f in enumerate(("math.floor", "math.ceil", "round", "math.trunc", "int"))
    )
    text = _kernel(body.rstrip(), "x: i32[40], y: i32[40, 5]")
    assert differences(kernel(text), text.split("\n\n", 1)[1], 1) == []


def test_fractions_of_loop_variables_alone_are_what_python_computes(kernel: Load) -> None:
    forms = ["int(i * 0.3)", "math.floor((i - 8) * 0.7)", "math.ceil(-i * 1.1)", "round(i * 0.7)"]
    forms += ["int(100 * math.sin(2 * math.pi * i / 16))", "int(math.sqrt(i * i + j * j))"]
    body = "for i in range(1, 12, 2):\n    for j in range(4):\n" + "".join(
        f"        y[i, j, {n}] = {text}\n" for n, text in enumerate(forms)
    )
    text = _kernel(body.rstrip(), "y: i32[12, 4, 6]")
    found = kernel(text)
    assert differences(found, text.split("\n\n", 1)[1]) == []
    value = next(iter(found.program.statements())).value
    assert isinstance(value, Index)  # affine


def _expression(choose: random.Random, depth: int) -> str:
    if depth == 0:
        return choose.choice(
            ["i", "(i + 0.5)", "(i * 0.3)", "u", "(u * 1.7)", "min(max(u, -2.0), 3.1)"]
        )
    a, b = (_expression(choose, depth - 1) for _ in range(2))
    forms = ["({a} + {b})", "({a} - {b})", "({a} * {b})", "min({a}, {b})", "max({a}, {b})"]
    forms += ["abs({a})", "math.sqrt(abs({a}))", "({a} / (abs({b}) + 0.5))", "math.sin({a})"]
    forms += [
        "({a} if {a} < {b} else {b})",
        *["np.floor({a})"] * (depth == 1),
        "(0.0 + int({a}) % 7)",
    ]
    return choose.choice(forms).format(a=a, b=b)


def test_ranges_hold_all_values(kernel: Load) -> None:
    choose = random.Random(5)
    written = [_expression(choose, 2) for _ in range(12)]
    body = "for i in range(9):\n" + "".join(
        f"    y[i, {n}] = {text}\n    z[i, {n}] = {'int' if 'np.' in text else f}({text})\n"
        for n, (text, f) in enumerate(
            zip(written, itertools.cycle(("int", "math.floor", "round")), strict=False)
        )
    )
    found = kernel(_kernel(body.rstrip(), "u: f32, y: f32[9, 12], z: i32[9, 12]"))
    loops: Mapping[str, tuple[int, int]] = {"i": (0, 8)}
    ranges = {
        str(s.target): value_range(
            s.value, loops, lambda a, t: (-5, 6) if a.array == "u" else type_range(t)
        )
        for s in found.program.statements()
    }
    for u in (-5.0, -2.3, -0.5, 0.0, 0.7, 2.5, 6.0):
        y, z = np.zeros((9, 12), np.float32), np.zeros((9, 12), np.int32)
        run(found.program, got := {"u": u, "y": y, "z": z})
        for (name, held), i in itertools.product(ranges.items(), range(9)):
            array, column = name[0], int(name.split(",")[1].strip(" ]"))
            assert held[0] <= float(got[array][i, column]) <= held[1], (written[column], name, u)
