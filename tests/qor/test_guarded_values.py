"""Values that are stored and read under one guard: nothing is selected between, nothing is carried."""

from __future__ import annotations

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.result.qor_estimate import QorEstimate
from weft import f32, i16, i32

DEVICES = [("xczu9eg", 10.0), ("xcu280", 3.33), ("xcku040", 4.0)]


@weft.kernel
def filtered(taps: i16[8], x: i16[72], y: i32[65]):
    line: i16[8] = 0
    for n in range(72):
        for k in range(7):
            line[k] = line[k + 1]
        line[7] = x[n]
        if n >= 7:
            total: i32 = 0
            for k in range(8):
                total += taps[k] * line[k]
            y[n - 7] = total


@weft.kernel
def restarted(x: f32[64], y: f32[64]):
    t: f32[1]
    t[0] = 0.0
    for n in range(64):
        if n >= 8:
            t[0] = x[n] * 2.0
            t[0] = t[0] + 1.0
            t[0] = t[0] * x[n]
            y[n] = t[0]


@weft.kernel
def nested(x: f32[64], y: f32[64]):
    for n in range(64):
        if n >= 8:
            t: f32 = x[n]
            if n >= 32:
                t = t + 1.0
            y[n] = t * 2.0


@weft.kernel
def carried(x: f32[64], y: f32[1]):
    t: f32 = 0.0
    for n in range(64):
        if n >= 8:
            t = t + x[n]
            t = t * 0.5
    y[0] = t


@weft.kernel
def carried_around(x: f32[64], y: f32[1]):
    t: f32 = 0.0
    for n in range(64):
        if n >= 8:
            if n <= 40:
                t = t + x[n]
            t = t * 0.5
    y[0] = t


@weft.kernel
def other_guard(x: f32[64], y: f32[64]):
    t: f32 = 0.0
    for n in range(64):
        if n >= 8:
            t = x[n] * 2.0
        if n >= 16:
            y[n] = t + 1.0


def of(kernel: Kernel, device: tuple[str, float]) -> QorEstimate:
    """Its loop ``n`` pipelined, small arrays in registers."""
    s = ScheduleBuilder()
    s.pipeline("n")
    for array in kernel.program.arrays:
        if array.shape and array.shape[0] <= 8:
            s.partition(array.name, 0, "complete")
    return estimated(kernel.program, s.build(), setting(None, *device)).answer


def interval(kernel: Kernel, device: tuple[str, float]) -> float:
    (loop,) = [row for row in of(kernel, device).loops if row.loops == ("n",)]
    return loop.ii


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kernel", [filtered, restarted, nested], ids=lambda k: k.name)
def test_what_starts_under_the_guard_is_not_carried(
    kernel: Kernel, device: tuple[str, float]
) -> None:
    assert interval(kernel, device) == 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kernel", [carried, carried_around], ids=lambda k: k.name)
def test_what_goes_on_from_an_earlier_iteration_is(
    kernel: Kernel, device: tuple[str, float]
) -> None:
    tool = setting(None, *device).tool
    both = sum(tool.operator(kind, "f32", 32).distance for kind in ("add", "mul"))
    assert interval(kernel, device) >= both - 1


@pytest.mark.parametrize("device", DEVICES)
def test_a_selection_that_another_guard_needs_takes_no_cycle(device: tuple[str, float]) -> None:
    assert interval(other_guard, device) == 1


@weft.kernel
def begun(x: f32[64], y: f32[64]):
    t: f32 = 0.0
    for n in range(64):
        if n >= 8:
            t = t * 0.5 + x[n]
        if n < 8:
            t = x[n]
        y[n] = t


@weft.kernel
def begun_otherwise(x: f32[64], y: f32[64]):
    t: f32 = 0.0
    for n in range(64):
        if n < 8:
            t = x[n]
        else:
            t = t * 0.5 + x[n]
        y[n] = t


@pytest.mark.parametrize("device", DEVICES)
def test_what_one_guard_stores_is_not_hidden_by_another(device: tuple[str, float]) -> None:
    """Both make the same recurrence, whichever guard stands last: a product and a sum at least."""
    first, last = (interval(kernel, device) for kernel in (begun, begun_otherwise))
    assert min(first, last) >= 5
    assert abs(first - last) <= 1
