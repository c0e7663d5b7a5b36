"""A pipelined loop of one iteration stays a loop: its pragma is there and unrolls what is inside."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft
from backends.equivalence import equivalence
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from tests.support.levels import Case, check_levels
from weft import f32

N = 8


@weft.kernel
def once(A: f32[N]):
    for i in range(N):
        for j in range(1):
            A[i] += 1.0


@weft.kernel
def diagonal(A: f32[N, N]):
    for i in range(N):
        for j in range(i, i + 1):
            A[i, j] += 1.0


@weft.kernel
def rows(A: f32[N, 4], B: f32[N]):
    for i in range(N):
        B[i] = 0.0
        for j in range(4):
            B[i] += A[i, j]


@weft.kernel
def guarded(A: f32[N, 4]):
    for i in range(N):
        for j in range(4):
            if i == 3:
                A[i, j] += 1.0
            A[i, j] += 2.0


@weft.kernel
def two(A: f32[N], B: f32[N]):
    for i in range(N):
        A[i] += 1.0
    for i in range(N):
        B[i] += 1.0


Change = Callable[[ScheduleBuilder], ScheduleBuilder]
CASES: list[tuple[Kernel, Change, int]] = [
    (once, lambda s: s.pipeline("j"), 1),
    (diagonal, lambda s: s.pipeline("j"), 1),
    (rows, lambda s: s.split("i", N).pipeline("i_0"), 1),
    (rows, lambda s: s.split("i", N - 1).pipeline("i_0"), 2),
    (rows, lambda s: s.split("j", 4).pipeline("j_0"), 1),
    (rows, lambda s: s.split("j", 3).split("i", 3).pipeline("j_0"), 4),
    (rows, lambda s: s.distribute(["S1"]).tile(["S1.i", "j"], [N, 4]).pipeline("j_0"), 1),
    (rows.at(N=1), lambda s: s.pipeline("i"), 1),
    (guarded, lambda s: s.split("j", 4).pipeline("j_0"), 1),
    (guarded, lambda s: s.split("i", N).pipeline("i_0"), 1),
    (two, lambda s: s.split("S0.i", N).split("S1.i", 2).pipeline("S0.i_0").pipeline("S1.i_0"), 2),
    (two, lambda s: s.fuse(["S0", "S1"], 1).split("S0.i", N).pipeline("i_0"), 1),
    (two, lambda s: s.dataflow().split("S0.i", N).pipeline("i_0"), 1),
]


@pytest.mark.parametrize(("kernel", "change", "pipelines"), CASES)
def test_its_pragma_is_in_the_code(kernel: Kernel, change: Change, pipelines: int) -> None:
    schedule = change(ScheduleBuilder()).build()
    design = compile_design(kernel.program, schedule)
    assert design.hls_cpp.count("#pragma HLS pipeline II=1\n") == pipelines, design.hls_cpp
    assert equivalence(design).verdict == "proven"
    assert check_levels([Case(0, kernel.program, schedule)]) == []


@pytest.mark.parametrize("n", [4, 8, 16])
def test_one_schedule_serves_every_size(n: int) -> None:
    schedule = ScheduleBuilder().split("i", 4).pipeline("i_0").build()
    code = compile_design(rows.at(N=n).program, schedule).hls_cpp
    assert f"i_0 < {n // 4}; ++i_0) {{\n#pragma HLS pipeline II=1" in code


@pytest.mark.parametrize("device", ["xczu9eg", "xc7z020", "ecp5-85k"])
def test_the_estimate_says_what_became_of_it(device: str) -> None:
    schedule = ScheduleBuilder().split("i", N).pipeline("i_0").build()
    found = weft.estimate(rows, schedule, device=device)
    assert not any("the design is the same" in text for text in found.directives)
    plain = weft.estimate(rows, ScheduleBuilder().split("i", N).build(), device=device)
    assert found.latency.average < plain.latency.average
