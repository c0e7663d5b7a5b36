"""Operations that cost alike, on the same operands: each that gives another value is there for itself."""

from __future__ import annotations

import pytest

import weft
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from weft import f32, i32


@weft.kernel
def smaller(a: i32[16], b: i32[16], y: i32[16], z: i32[16]):
    for i in range(16):
        y[i] = min(a[i], b[i])
        z[i] = min(a[i], b[i])


@weft.kernel
def smaller_and_larger(a: i32[16], b: i32[16], y: i32[16], z: i32[16]):
    for i in range(16):
        y[i] = min(a[i], b[i])
        z[i] = max(a[i], b[i])


@weft.kernel
def below(a: i32[16], b: i32[16], y: i32[16], z: i32[16]):
    for i in range(16):
        y[i] = 3 if a[i] < b[i] else 5
        z[i] = 3 if a[i] < b[i] else 5


@weft.kernel
def below_and_equal(a: i32[16], b: i32[16], y: i32[16], z: i32[16]):
    for i in range(16):
        y[i] = 3 if a[i] < b[i] else 5
        z[i] = 3 if a[i] == b[i] else 5


@weft.kernel
def sine(t: f32[16], y: f32[16], z: f32[16]):
    for i in range(16):
        y[i] = weft.sin(t[i])
        z[i] = weft.sin(t[i])


@weft.kernel
def sine_and_cosine(t: f32[16], y: f32[16], z: f32[16]):
    for i in range(16):
        y[i] = weft.sin(t[i])
        z[i] = weft.cos(t[i])


@pytest.mark.parametrize("tool", ["vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns"])
@pytest.mark.parametrize(
    ("once", "twice"),
    [(smaller, smaller_and_larger), (below, below_and_equal), (sine, sine_and_cosine)],
    ids=lambda kernel: kernel.name,
)
def test_they_are_not_taken_for_one(once: Kernel, twice: Kernel, tool: str) -> None:
    one, two = (
        estimate(kernel_of_tree(loop_tree(apply(k.program, Schedule()))), tool)
        for k in (once, twice)
    )
    assert one.lut is not None
    assert two.lut is not None
    assert two.lut >= one.lut + 16
