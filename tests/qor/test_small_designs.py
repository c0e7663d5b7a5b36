"""What small designs consist of, in numbers that reports of public projects have (docs/lab/resources.md, Small designs)."""

from __future__ import annotations

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.area.terms import Sums
from qor_gnn.tools.operators.at_clock import library_at
from tests.qor.test_default_settings import product
from weft import f32, i16, i32


def sums(kernel: Kernel, tool: str = "vitis-2021.1", *pipelined: str) -> Sums:
    """The terms of a kernel at 10 ns."""
    builder = ScheduleBuilder()
    for loop in pipelined:
        builder = builder.pipeline(loop)
    found = estimated(kernel.program, builder.build(), setting(tool, "xczu9eg", 10.0)).answer.sums
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("timing", "dsp", "adders"),
    [
        ("zynquplus-2", "DSP48E2", {2: 9, 3: 10, 4: 12, 5: 12, 8: 15, 12: 19, 32: 39}),
        ("kintex7-2", "DSP48E1", {2: 10, 3: 11, 4: 13, 5: 13, 6: 14, 7: 14, 12: 19, 16: 23}),
        ("zynq7-1", "DSP48E1", {9: 14, 10: 13, 11: 12, 12: 12, 13: 14, 14: 17, 15: 20, 16: 23}),
    ],
)
def test_adders_have_the_luts_of_their_family(
    timing: str, dsp: str, adders: dict[int, int]
) -> None:
    own = library_at(timing, dsp, 7.3).integers
    assert {w: own["add"].operator("add", w).lut for w in adders} == adders
    later = library_at(timing, dsp, 7.3, compares="adder").integers
    assert {w: later["cmp"].operator("cmp", w).lut for w in adders} == adders


@pytest.mark.parametrize(("timing", "at_32"), [("zynquplus-2", 20), ("zynq7-1", 18)])
def test_comparisons_before_2023_1(timing: str, at_32: int) -> None:
    found = library_at(timing, "DSP48E2" if "plus" in timing else "DSP48E1", 7.3).integers["cmp"]
    widths = {2: 8, 5: 9, 7: 10, 11: 11, 14: 12, 18: 13, 32: at_32, 64: 29}
    assert {w: found.operator("cmp", w).lut for w in widths} == widths


@weft.kernel
def three(a: i32[64], b: i32[64], c: i32[64], y: i32[64]):
    for i in range(64):
        y[i] = a[i] + b[i] - c[i]


@weft.kernel
def two(a: i32[64], b: i32[64], c: i32[64], y: i32[64], z: i32[64]):
    for i in range(64):
        s: i32 = a[i] + b[i]
        z[i] = s
        y[i] = s - c[i]


def test_two_additions_in_one_state_are_an_adder_of_three_operands() -> None:
    """Each has as many LUTs as bits; the sum that something else takes as well has an adder of its own."""
    assert sums(three, "vitis-2021.1", "i").lut_fixed == 32 + 32
    assert sums(two, "vitis-2021.1", "i").lut_fixed == 39 + 39


@weft.kernel
def inner(a: i16[8], b: i16[8], s: i16[1]):
    acc: i16 = 0
    for i in range(8):
        acc += a[i] * b[i]
    s[0] = acc


@weft.kernel
def kept(a: f32[8, 64], y: f32[8]):
    for i in range(8):
        for j in range(64):
            y[i] += a[i, j]


def test_a_scalar_is_the_register_that_it_is_kept_in() -> None:
    """ELEN226: 16 flip-flops of the sum, 6 states (the model has 7), a counter of 4 bits."""
    found = sums(inner, "vitis-2022.1")
    assert (found.ff["accumulators"], found.ff["before"], found.ff["results"]) == (16, 0, 0)
    element = sums(kept, "vitis-2022.1", "j")  # of an argument: loaded, and kept, with its address
    assert element.ff["before"] == 32
    assert element.ff["accumulators"] > 32


@weft.kernel
def products(a: i16[64], b: i16[64], c: i16[64], y: i16[64]):
    for i in range(64):
        y[i] = a[i] * b[i] + c[i]


def test_what_a_slice_adds_waits_in_its_own_register() -> None:
    found = sums(products, "vitis-2021.1", "i")
    assert found.ff["results_pipelined"] == 0


def test_both_ports_of_an_argument_take_turns_at_what_is_read() -> None:
    """HLS_LAB_A: of three loads at interval 2 one port takes two, which is a multiplexer, the other one."""
    found = sums(product, "vitis-2021.1", "j")
    assert found.lut["port_reads"] == 2 * (14 + 20)
