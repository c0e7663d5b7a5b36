"""Addresses of flattened nests: a row's number times its length, as reports of Vitis HLS 2022.2 and 2023.2 have it."""

from __future__ import annotations

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import f32
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from qor_gnn.body.address_products import digits
from qor_gnn.result.qor_estimate import QorEstimate
from weft import f64

ADDER, MULTIPLIER = 3, 8  # DSP slices of f64 at 5 ns on Virtex UltraScale+


def found(program: Program, version: str = "vitis-2022.2") -> QorEstimate:
    return estimated(program, Schedule(()), setting(version, "u55c", 5.0)).answer


def copied(columns: int) -> QorEstimate:
    p = ProgramBuilder("copy")
    i, j = p.loops(i=70, j=columns)
    a = p.placeholder("A", f32, (70, columns))
    b = p.placeholder("B", f32, (70, columns))
    p.compute("S", (i, j), b[i, j], a[i, j])
    return found(p.build())


@pytest.mark.parametrize(
    ("number", "few"), [(1, 1), (64, 1), (80, 2), (60, 2), (15, 2), (11, 3), (90, 4), (400, 3)]
)
def test_powers_of_two_that_make_a_number(number: int, few: int) -> None:
    assert digits(number) == few


@pytest.mark.parametrize(
    ("columns", "dsp", "states"), [(128, 0, 0), (80, 0, 1), (120, 0, 1), (90, 1, 3), (110, 1, 3)]
)
def test_a_row_of_two_powers_of_two_is_an_addition(columns: int, dsp: int, states: int) -> None:
    one, even = copied(columns), copied(128)
    assert one.dsp == dsp
    assert one.loops[0].depth == even.loops[0].depth + states


@weft.kernel
def jacobi_2d(a: f64[90, 90], b: f64[90, 90]):
    for i in range(1, 89):
        for j in range(1, 89):
            b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, 1 + j] + a[1 + i, j] + a[i - 1, j])


def test_a_product_that_several_columns_are_added_to_is_of_logic() -> None:
    """Report: two multiply-adds in DSP slices, of rows i - 1 and i + 1, and a product of 7 by 8 bits for row i."""
    assert found(jacobi_2d.program).dsp == 2 * ADDER + MULTIPLIER + 2


@weft.kernel
def heat_3d(a: f64[20, 20, 20], b: f64[20, 20, 20]):
    for i in range(1, 19):
        for j in range(1, 19):
            for k in range(1, 19):
                b[i, j, k] = a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k]


def test_rows_of_planes_are_counted_one_dimension_after_the_other() -> None:
    """The place is (i * 20 + j) * 20 + k, all of it additions: i * 400 would be a product."""
    assert found(heat_3d.program).dsp == ADDER + MULTIPLIER


@weft.kernel
def means(data: f64[100, 80], mean: f64[80], n: f64):
    for j in range(80):
        mean[j] = 0.0
        for i in range(100):
            mean[j] += data[i, j]
        mean[j] /= n


@pytest.mark.parametrize(("clock", "interval"), [(5.0, 5), (3.33, 8)])
def test_what_a_nest_stays_at_waits_for_no_memory_where_a_selection_fits(
    clock: float, interval: int
) -> None:
    """Report at 5 ns: interval 5, 8,000 iterations in 40,025 cycles, of an adder of latency 4."""
    answer = estimated(means.program, Schedule(()), setting("vitis-2022.2", "u55c", clock)).answer
    assert answer.loops[0].ii == interval
    if clock == 5.0:
        assert answer.loops[0].latency.maximum == 40_025


@weft.kernel
def constants(y: f64[80]):
    p: f64[9]
    for i in range(80):
        p[0] = 0.0
        for j in range(1, 9):
            p[j] = 1.0 / (p[j - 1] + 2.0)
        y[i] = y[i] * p[8]


def test_what_comes_of_constants_is_a_constant() -> None:
    assert found(constants.program).dsp == MULTIPLIER


@weft.kernel
def dots(a: weft.i32[16, 16], x: weft.i32[16], y: weft.i32[16], z: weft.i32[16]):
    for i in range(16):
        y[i] = 0
        for j in range(16):
            y[i] += a[i, j] * x[j]
    for i in range(16):
        z[i] = 0
        for j in range(16):
            z[i] += a[j, i] * y[j]


def test_products_within_a_state_have_a_unit_each() -> None:
    """Report: interval 8, 16 products of 32 bits in each module of three slices each, 96 in all."""
    answer = found(dots.program)
    assert [row.ii for row in answer.loops] == [8, 8]
    assert answer.dsp == 96
    assert [row.dsp for row in answer.loops] == [48, 48]
    assert found(dots.program, "vitis-2022.1").dsp < 96  # no report of that version says so
