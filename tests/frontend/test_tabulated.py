"""Choices among constants that counters decide: tables, whatever they are written as."""

from collections.abc import Callable

import numpy as np
import pytest

import weft
from dsl.arrays.inputs import random_inputs
from dsl.expressions.affine import Affine
from dsl.frontend import read
from dsl.interp import run
from dsl.programs.program import If
from weft import f32, fixed, i16, i32, u8

WEIGHTS = [(k * 2654435761) % 20011 - 10000 for k in range(40)]
ROWS = [WEIGHTS[8 * r : 8 * r + 8] for r in range(4)]
SIGNED_ZEROS = [0.0 if k % 2 else -0.0 for k in range(16)]
COSINES = [1.0 - k / 37 for k in range(32)]


def reversed_steps(x: i32[80], y: i32[80]):
    for i in range(79, 2, -7):
        y[i] = WEIGHTS[(79 - i) // 2 - 20] * x[i]


def triangle(x: i32[16], y: i32[16]):
    for i in range(16):
        for j in range(i, 16):
            y[i] += WEIGHTS[j - i] * x[j]


def stages(x: f32[32], y: f32[32]):
    for s in range(5):
        for b in range(32):
            y[b] += COSINES[(b % (1 << s)) * (32 >> s)] * x[b]


def rows(x: i16[4, 8], y: i32[4, 8]):
    for i, j in weft.grid(4, 8):
        y[i, j] = ROWS[i][7 - j] * x[i, j]


def zeros(x: f32[16], y: f32[16]):
    for i in range(16):
        y[i] = SIGNED_ZEROS[i] * x[i]


def raw(x: fixed[18, 2][16], y: fixed[24, 4][16]):
    for i in range(16):
        y[i] = x[i] * fixed[18, 2](COSINES[i])


def branches(x: i32[32], y: i32[32]):
    for i in range(32):
        k = i % 16
        if k == 0:
            w = 100_000
        elif k in (1, 5):
            w = -230_001
        elif k < 4 and k != 3:
            w = 345_677
        elif k == 3 or k == 9:
            w = 4_577
        elif k == 4:
            w = 5_666
        elif k == 6:
            w = -6_777
        elif k > 11:
            w = 788_888
        else:
            w = 9
        y[i] = x[i] * w


def one_expression(x: f32[20], y: f32[20]):
    for i in range(20):
        k = i % 10
        y[i] = x[i] * (
            (0.1 if k == 0 else 0.2 if k == 1 else 0.3 if k == 2 else 0.4 if k == 3 else 0.5)
            if k < 5
            else (0.6 if k == 5 else 0.7 if k == 6 else 0.8 if not (k > 7) else -0.9)
        )


SHAPES = {
    reversed_steps: [(39,)],
    triangle: [(31,)],
    stages: [(8,), (16,)],  # those of fewer entries are choices among what their counters reach
    rows: [(4, 8)],
    zeros: [(16,)],
    raw: [(16,)],
    branches: [(16,)],
    one_expression: [(10,)],
}


@pytest.mark.parametrize("function", SHAPES, ids=lambda f: f.__name__)
def test_same_values_as_the_choice(
    function: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = weft.kernel(function).program
    assert [t.shape for t in program.tables] == SHAPES[function]
    monkeypatch.setattr(read, "tabulated", lambda program: program)
    written = weft.kernel(function).program
    assert not written.tables
    inputs = random_inputs(program)
    found, wanted = run(program, inputs), run(written, inputs)
    for name, one in wanted.items():
        np.testing.assert_array_equal(found[name], one)
        np.testing.assert_array_equal(np.signbit(found[name]), np.signbit(one))


def test_small_choices_and_those_of_data_stay() -> None:
    @weft.kernel
    def stays(x: u8[16], y: i32[16]):
        for i in range(16):
            y[i] = WEIGHTS[x[i] & 15] + [9, 3, 8, 1, 2, 7, 6, 5][i % 8]

    assert not stays.program.tables


def test_only_what_counters_reach_is_chosen_from() -> None:
    @weft.kernel
    def second(x: f32[32], y: f32[32]):
        for b in range(32):
            y[b] = COSINES[b % 2 * 16] * x[b]

    (statement,) = second.program.statements()
    assert not second.program.tables
    assert str(statement.value.lhs.cond.lhs.affine) == str(Affine.of("b") % 2)
    assert [statement.value.lhs.then.value, statement.value.lhs.orelse.value] == [
        COSINES[0],
        np.float32(COSINES[16]),
    ]


def test_branches_become_one_assignment() -> None:
    program = weft.kernel(branches).program
    assert not any(isinstance(node, If) for node, _ in program.walk())
    assert len(program.statements()) == 2
