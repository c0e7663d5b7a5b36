"""Accumulators in an array, updated under guards inside of a guard: what they hold is known from copy to copy.

An element that is cleared, updated by guarded copies and read behind them is one chain. The model had lost it where
the copies were in a guard of their own: a triangular solve whose rows wait for each other had an interval of 1.
"""

from __future__ import annotations

import pytest

import weft
from dse.bounds.bounds import bounds
from dse.bounds.work import work_of
from dse.estimates.estimation import setting
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from weft import f32

TOOLS = [
    ("vitis-2022.1-zu9eg-10ns", "xczu9eg", 10.0),
    ("vitis-2023.2-u280-3.33ns", "xcu280", 3.33),
    ("vitis-2025.1-u200-4ns", "xcu200", 4.0),
]
N, P = 16, 4


@weft.kernel
def forward(L: f32[N, N], b: f32[N], x: f32[N]):
    for i in range(N):
        total: f32 = b[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]


@weft.kernel
def backward(U: f32[N, N], b: f32[N], x: f32[N]):
    for i in range(N - 1, -1, -1):
        total: f32 = b[i]
        for j in range(i + 1, N):
            total -= U[i, j] * x[j]
        x[i] = total / U[i, i]


@weft.kernel
def prefix(A: f32[N, N], x: f32[N]):
    for i in range(1, N):
        total: f32 = 0.0
        for j in range(i):
            total += A[i, j] * x[j]
        x[i] = total


@weft.kernel
def triangle(A: f32[N, N], y: f32[N]):
    # No row waits for another: only the depth has the chain.
    for i in range(N):
        total: f32 = 0.0
        for j in range(i + 1):
            total += A[i, j]
        y[i] = total


def spread(kernel: Kernel, *, banks: bool) -> Schedule:
    name = "S1"
    s = ScheduleBuilder().partial_sums(name, f"{name}.j", P)
    s = s.unroll(f"{name}_init.part").unroll(f"{name}_sum.part")
    s = s.unroll(f"{name}.j", tail="guard").pipeline("S0.i")
    if banks:
        for array in kernel.program.arrays:
            if array.name != "total":
                for dim in range(len(array.shape)):
                    s = s.partition(array.name, dim, "complete")
        s = s.partition("total_part", 0, "complete")
    return s.build()


@pytest.mark.parametrize("banks", [True, False], ids=["banks", "plain"])
@pytest.mark.parametrize(("tool", "chip", "clock"), TOOLS)
@pytest.mark.parametrize("kernel", [forward, backward, prefix], ids=lambda k: k.name)
def test_rows_wait_for_each_other(kernel, tool, chip, clock, banks) -> None:
    found = weft.estimate(kernel, spread(kernel, banks=banks), device=chip, clock=clock, tool=tool)
    where = setting(tool, chip, clock)
    work = work_of(kernel.program, where.tool, reassociate=True)
    least = bounds(work, where.tool, where.device.dsp, where.device.lut).cycles
    assert found.latency.average >= least
    assert any("x" in str(limit) for row in found.loops for limit in row.limits[:1])


@pytest.mark.parametrize(("tool", "chip", "clock"), TOOLS)
def test_where_none_waits_the_chain_is_in_the_depth(tool, chip, clock) -> None:
    found = weft.estimate(
        triangle, spread(triangle, banks=True), device=chip, clock=clock, tool=tool
    )
    (row,) = found.loops
    assert row.ii <= 2
    # The terms of an accumulator, and the accumulators, one after the other, each at least three states.
    assert row.depth >= 3 * (N // P + P)
