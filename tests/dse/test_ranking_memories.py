"""Local arrays are ranked as the tool stores them for the design as a whole: by all nests that access them."""

from __future__ import annotations

import random

import pytest

import weft
from benchmarks.ranking import drawn
from dse.estimates.estimation import ranked, setting
from dse.space.space import space_of
from dse.space.start import Start
from dse.strategies.estimates import Estimates
from dsl.schedules.steps import Buffer, Interface, Pack, Step, Tile
from polyhedral.schedule import apply
from weft import f32, i32

V2022, V2023, V2025 = (
    "vitis-2022.1-zu9eg-10ns",
    "vitis-2023.2-u280-3.33ns",
    "vitis-2025.1-u200-4ns",
)


@weft.kernel
def a_row_read_three_times(A: f32[24, 32], B: f32[24, 32]):
    for i in range(24):
        row: f32[32]
        for j in range(32):
            row[j] = A[i, j] * 3.0
        for j in range(1, 31):
            B[i, j] = row[j - 1] + row[j] + row[j + 1]


@weft.kernel
def written_twice(x: i32[128], y: i32[128]):
    d: i32[128]
    for i in range(64):
        d[2 * i] = x[i]
        d[2 * i + 1] = x[i + 64]
    for i in range(1, 127):
        y[i] = d[i - 1] + d[i] + d[i + 1]


@weft.kernel
def stencil(A: i32[30, 32], B: i32[30, 32]):
    for i in range(1, 29):
        for j in range(32):
            B[i, j] = A[i - 1, j] + A[i, j] + A[i + 1, j]


@weft.kernel
def gemm(A: i32[24, 20], B: i32[20, 16], C: i32[24, 16]):
    for i in range(24):
        for j in range(16):
            for k in range(20):
                C[i, j] += A[i, k] * B[k, j]


TILES: tuple[Step, ...] = (
    *(Interface(a, "m_axi", a) for a in "AB"),
    Tile(("i",), (7,), tail="guard"),
    Buffer("B", "i_0"),
    Buffer("A", "i_0"),
)
BORDERS: tuple[Step, ...] = (
    *(Interface(a, "m_axi", a) for a in "ABC"),
    *(Pack(a, 128) for a in "ABC"),
    Tile(("i", "j", "k"), (8, 8, 8), tail="guard"),
    Buffer("C", "j_0"),
    Buffer("A", "k_0"),
    Buffer("B", "k_0"),
)
CASES = [
    (a_row_read_three_times, (), V2022),
    (a_row_read_three_times, (), V2025),
    (written_twice, (), V2023),
    (stencil, TILES, V2023),
    (gemm, BORDERS, V2022),
]


@pytest.mark.parametrize(("kernel", "steps", "tool"), CASES)
def test_local_arrays_take_what_the_model_says(
    kernel: weft.Kernel, steps: tuple[Step, ...], tool: str
) -> None:
    """Of points that are no filters in line, whose FIFOs are not ranked."""
    where = setting(tool, None, None)
    space = space_of(kernel.program, where.tool, start=Start(steps))
    estimates = Estimates(space)
    ratios: list[float] = []
    for point in drawn(space, random.Random(kernel.name), 200, 8):
        schedule = space.schedule(point)
        if schedule is None or space.variants[point.variant].beside:
            continue
        exact = ranked(apply(space.program, schedule), schedule, where).answer
        ratios.append(estimates.figures(point).cycles / exact.latency.average)
        if len(ratios) == 4:
            break
    near = sum(abs(ratio - 1) < 0.005 for ratio in ratios)
    assert near >= 3, ratios
    assert all(abs(ratio - 1) < 0.03 for ratio in ratios), ratios
