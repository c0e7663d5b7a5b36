"""Choices that counters of unrolled loops decide: what is left is what somebody would have written out."""

from __future__ import annotations

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.kernels.kernel import Kernel
from dsl.schedules.steps import BindStorage
from qor_gnn.result.qor_estimate import QorEstimate
from weft import i16, i32, u8

DEVICES = (("xc7z020", 10.0), ("xcu200", 4.0))
TAPS = [7, -13, 29, 51, 0, 1, -1, 200]
GRAY = [77, 150, 29]


@weft.kernel
def filtered(x: i32[40], y: i32[32]):
    for i in range(32):
        s: i32 = 0
        for k in range(8):
            s += TAPS[k] * x[i + k]
        y[i] = s


@weft.kernel
def filtered_written(x: i32[40], y: i32[32]):
    for i in range(32):
        s: i32 = 7 * x[i]
        s += -13 * x[i + 1]
        s += 29 * x[i + 2]
        s += 51 * x[i + 3]
        s += x[i + 5]
        s += -1 * x[i + 6]
        s += 200 * x[i + 7]
        y[i] = s


@weft.kernel
def gray(x: u8[32, 3], y: u8[32]):
    for i in range(32):
        s: i32 = 0
        for c in range(3):
            s += GRAY[c] * x[i, c]
        y[i] = s >> 8


@weft.kernel
def gray_written(x: u8[32, 3], y: u8[32]):
    for i in range(32):
        s: i32 = 77 * x[i, 0]
        s += 150 * x[i, 1]
        s += 29 * x[i, 2]
        y[i] = s >> 8


@weft.kernel
def chosen(a: i32[32, 4], b: i32[32, 4], y: i32[32, 4]):
    for i in range(32):
        for k in range(4):
            y[i, k] = a[i, k] if k - 2 < 0 or k == 3 else b[i, k] // 3


@weft.kernel
def chosen_written(a: i32[32, 4], b: i32[32, 4], y: i32[32, 4]):
    for i in range(32):
        y[i, 0] = a[i, 0]
        y[i, 1] = a[i, 1]
        y[i, 2] = b[i, 2] // 3
        y[i, 3] = a[i, 3]


SIGNS = [1, -1, -1, 1]


@weft.kernel
def signed(a: i32[32, 4], y: i32[32, 4]):
    for i in range(32):
        for k in range(4):
            y[i, k] = SIGNS[k] * a[i, k]


@weft.kernel
def signed_written(a: i32[32, 4], y: i32[32, 4]):
    for i in range(32):
        y[i, 0] = a[i, 0]
        y[i, 1] = -a[i, 1]
        y[i, 2] = -a[i, 2]
        y[i, 3] = a[i, 3]


WIDE = [k * 40503 % 65521 - 30000 for k in range(32)]


@weft.kernel
def weighed(x: i32[32, 32], y: i32[32]):
    for i in range(32):
        for k in range(32):
            y[i] += WIDE[k] * x[i, k]


@weft.kernel
def weighed_by_argument(x: i32[32, 32], w: i16[32], y: i32[32]):
    for i in range(32):
        for k in range(32):
            y[i] += w[k] * x[i, k]


@weft.kernel
def kept(x: i32[32], y: i32[32]):
    for i in range(32):
        y[i] = TAPS[i % 8] * x[i]


@weft.kernel
def scaled(x: i32[32], y: i32[32]):
    for i in range(32):
        y[i] = 200 * x[i]


def _piped(kernel: Kernel, device: tuple[str, float]) -> QorEstimate:
    @kernel.schedule
    def piped(s):
        s.pipeline("i")
        for name in (a.name for a in kernel.program.arguments):
            s.partition(name, 0, "cyclic", 4)

    return estimated(kernel.program, piped, setting(None, *device)).answer


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("table", "written"),
    [
        (filtered, filtered_written),
        (gray, gray_written),
        (chosen, chosen_written),
        (signed, signed_written),
    ],
)
def test_what_is_left_is_what_would_be_written(
    table: Kernel, written: Kernel, device: tuple[str, float]
) -> None:
    found, wanted = _piped(table, device), _piped(written, device)
    assert found.dsp <= wanted.dsp
    assert abs(found.latency.average - wanted.latency.average) <= 2
    assert found.lut <= 1.1 * wanted.lut
    assert found.lut >= 0.9 * wanted.lut
    assert found.ff <= 1.25 * wanted.ff


def test_what_counters_do_not_decide_is_selected() -> None:
    """Seven choices between entries of eight bits."""
    found, one = (_piped(kernel, DEVICES[0]).lut for kernel in (kept, scaled))
    assert found >= one + 7 * 8 / 2


ORDER = [0, 4, 2, 6, 1, 5, 3, 7]


@weft.kernel
def permuted(a: i32[32, 8], y: i32[32, 8]):
    for i in range(32):
        for k in range(8):
            y[i, ORDER[k]] = a[i, ORDER[7 - k]]


@weft.kernel
def permuted_written(a: i32[32, 8], y: i32[32, 8]):
    for i in range(32):
        y[i, 0] = a[i, 7]
        y[i, 4] = a[i, 3]
        y[i, 2] = a[i, 5]
        y[i, 6] = a[i, 1]
        y[i, 1] = a[i, 6]
        y[i, 5] = a[i, 2]
        y[i, 3] = a[i, 4]
        y[i, 7] = a[i, 0]


@pytest.mark.parametrize("banks", [2, 8])
def test_copies_know_where_a_table_says_that_they_access(banks: int) -> None:
    def piped(kernel: Kernel) -> QorEstimate:
        @kernel.schedule
        def piped(s):
            s.pipeline("i").partition("a", 1, "cyclic", banks).partition("y", 1, "cyclic", banks)

        return estimated(kernel.program, piped, setting("vitis-2022.1", *DEVICES[0])).answer

    found, wanted = piped(permuted), piped(permuted_written)
    assert (found.latency, found.ff) == (wanted.latency, wanted.ff)
    assert found.lut == pytest.approx(wanted.lut, rel=0.03)


@pytest.mark.parametrize("copies", [1, 4])
def test_a_table_is_a_memory(copies: int) -> None:
    """Banks of the table are read as those of an argument are, and cost 16 bits of LUT RAM each."""

    def piped(kernel: Kernel) -> QorEstimate:
        @kernel.schedule
        def piped(s):
            s.pipeline("k").unroll("k", copies).partition("x", 1, "cyclic", copies)
            if kernel is weighed_by_argument:
                s.partition("w", 0, "cyclic", copies)

        return estimated(kernel.program, piped, setting(None, *DEVICES[0])).answer

    found, wanted = piped(weighed), piped(weighed_by_argument)
    assert found.latency == wanted.latency
    assert (found.dsp, found.bram18) == (wanted.dsp, wanted.bram18)
    assert 0 < found.lut - wanted.lut < 20 * copies


def test_a_table_of_which_all_copies_know_the_element_is_none() -> None:
    @weighed.schedule
    def whole(s):
        s.pipeline("i").unroll("k").partition("x", 1, "complete")

    answer = estimated(weighed.program, whole, setting("vitis-2022.1", *DEVICES[0])).answer
    written = estimated(
        weighed.program,
        whole.then(BindStorage("WIDE", "rom_1p", "bram")),
        setting("vitis-2022.1", *DEVICES[0]),
    ).answer
    assert answer.bram18 == written.bram18 == 0
    assert answer.latency == written.latency
