"""Guards in unrolled loops: conditions of the program, and tails of triangular loops."""

from __future__ import annotations

import pytest

import weft
from backends.rtl.front.lower import graph_of
from dsl.arrays.inputs import random_inputs
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.scop.scheduled import build
from tests.rtl.front_support import mismatch
from tests.support.random_conditions import random_conditions, random_unrolling
from weft import i32


@weft.kernel
def padded(A: i32[9], w: i32[3], B: i32[9]):
    for i in range(9):
        s: i32 = 0
        for r in range(3):
            if 0 <= i + r - 1 < 9:
                s += A[i + r - 1] * w[r]
        B[i] = s


@weft.kernel
def lower(A: i32[7, 7]):
    for i in range(7):
        for j in range(i + 1):
            A[i, j] = 3 * A[i, j] + j


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


@pytest.mark.parametrize(
    ("kernel", "builder"),
    [
        (padded, steps().pipeline("i")),
        (padded, steps().unroll("r")),
        (padded, steps().split("i", 4, tail="guard").pipeline("i_0")),
        (lower, steps().tile(["i", "j"], [3, 2], tail="guard").pipeline("j_0")),
        (lower, steps().tile(["i", "j"], [3, 2], tail="guard").unroll("j_1")),
    ],
)
def test_guarded_copies_compute_the_same(kernel: Kernel, builder: ScheduleBuilder) -> None:
    schedule = builder.build()
    graph = graph_of(compile_design(kernel.program, schedule).module)
    inputs = random_inputs(kernel.program, 1)
    assert mismatch(kernel.program, graph, inputs, schedule) is None


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_random_conditions(first: int) -> None:
    tried = 0
    for seed in range(first, first + 10):
        program, schedule = random_conditions(seed), random_unrolling(seed)
        if not build(program).pieces:
            continue
        module = compile_design(program, schedule).module
        tried += 1
        inputs = random_inputs(program, seed)
        assert mismatch(program, graph_of(module), inputs, schedule) is None, seed
    assert tried > 5
