"""Products of integers and sums that one DSP slice does (`qor_gnn.body.multiply_adds`).

Figures are those of csynth reports of Vitis HLS 2022.1 on Kintex-7 at 4 ns, where it says so (docs/lab/schedule.md,
Settings of 2020.1 to 2022.1).
"""

from __future__ import annotations

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.result.qor_estimate import QorEstimate
from weft import i16, i32

PLACE = ("vitis-2022.1", "xc7k160t", 4.0)


@weft.kernel
def inner(a: i16[8], b: i16[8], s: i16[1]):
    acc: i16 = 0
    for i in range(8):
        acc += a[i] * b[i]
    s[0] = acc


@weft.kernel
def wide(a: i32[8], b: i32[8], s: i32[1]):
    acc: i32 = 0
    for i in range(8):
        acc += a[i] * b[i]
    s[0] = acc


@weft.kernel
def kept(a: i16[8], b: i16[8], s: i16[8], t: i16[8]):
    for i in range(8):
        p: i16 = a[i] * b[i]
        s[i] = p + a[i]
        t[i] = p


@weft.kernel
def numbers(a: i16[8], s: i16[8], t: i16[8]):
    for i in range(8):
        s[i] = a[i] * 10 + 1
        t[i] = a[i] * 11 + 1


def found(kernel: Kernel, *steps: str) -> QorEstimate:
    builder = ScheduleBuilder()
    for step in steps:
        if step == "pipeline":
            builder = builder.pipeline("i")
        else:
            builder = (
                builder.unroll("i").partition("a", 0, "complete").partition("b", 0, "complete")
            )
    return estimated(kernel.program, builder.build(), setting(*PLACE)).answer


def test_a_loop_of_a_product_and_a_sum_is_as_reported() -> None:
    (loop,) = found(inner).loops
    assert loop.depth == 5  # load, and four stages of which the first is in the state of the load
    assert found(inner).dsp == 1
    assert found(inner, "pipeline").loops[0].ii == 1


def test_the_sum_takes_no_logic_and_the_product_no_register() -> None:
    one, two = found(inner), found(wide)
    assert one.sums is not None
    assert two.sums is not None
    assert one.sums.lut_fixed < two.sums.lut_fixed
    assert one.ff < two.ff / 2  # type: ignore[operator]


def test_a_product_of_several_slices_adds_apart() -> None:
    assert dict(found(wide).units).keys() >= {"mul_32_32_32"}


def test_a_product_that_is_stored_too_adds_apart() -> None:
    assert not any(core.startswith("muladd") for core, _ in found(kept).units)


def test_products_of_a_tree_add_the_others() -> None:
    answer = found(inner, "unroll")
    assert answer.dsp == 8
    units = dict(answer.units)
    assert sum(n for core, n in units.items() if core.startswith("muladd_mul")) >= 4


@pytest.mark.parametrize("step", [(), ("pipeline",)])
def test_a_number_of_two_digits_is_a_sum(step: tuple[str, ...]) -> None:
    assert found(numbers, *step).dsp == 1  # 11 has three
