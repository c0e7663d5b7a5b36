"""Estimates of designs whose unrolled loops are guarded: read alike from the tree and the module."""

from __future__ import annotations

import pytest

import weft
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from weft import f32


@weft.kernel
def padded(A: f32[16], w: f32[3], B: f32[16]):
    for i in range(16):
        s: f32 = 0.0
        for r in range(3):
            if 0 <= i + r - 1 < 16:
                s += A[i + r - 1] * w[r]
        B[i] = s


@weft.kernel
def lower(A: f32[10, 10]):
    for i in range(10):
        for j in range(i + 1):
            A[i, j] += 1.0


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


@pytest.mark.parametrize(
    ("kernel", "builder", "ii"),
    [
        (padded, steps().pipeline("i").partition("A", 0, "complete"), 1),
        (padded, steps().split("i", 4, tail="guard").unroll("i_1").pipeline("i_0"), None),
        (lower, steps().tile(["i", "j"], [4, 4], tail="guard").pipeline("i_1"), None),
        (lower, steps().tile(["i", "j"], [4, 4], tail="guard").pipeline("j_1"), 1),
    ],
)
def test_guards_in_copies(kernel: Kernel, builder: ScheduleBuilder, ii: int | None) -> None:
    design = compile_design(kernel.program, builder.build())
    tree, module = kernel_of_tree(design.tree), kernel_of_module(design.module)
    assert tree == module
    found = estimate(tree, "vitis-2023.2-u280-3.33ns")
    pipelined = [loop for loop in found.loops if loop.kind == "pipeline"]
    assert len(pipelined) == 1
    assert ii is None or pipelined[0].ii == ii
    assert found.latency.average > 0
