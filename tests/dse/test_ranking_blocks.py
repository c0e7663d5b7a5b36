"""Statements outside all loops are scheduled with the nests around them."""

from __future__ import annotations

import random

import pytest

import weft
from benchmarks.ranking import drawn
from dse.estimates.estimation import ranked, setting
from dse.space.space import space_of
from dse.strategies.estimates import Estimates
from polyhedral.schedule import apply
from weft import f32, i32

TOOLS = ("vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns")


@weft.kernel
def in_front_between_and_behind(x: f32[48], y: f32[48], out: f32[2]):
    count: f32 = 48.0
    total: f32 = 0.0
    for i in range(48):
        total += x[i]
    mean: f32 = total / count
    for i in range(48):
        y[i] = x[i] - mean
    out[0] = mean
    out[1] = mean * mean


@weft.kernel
def constants_alone(x: i32[40], y: i32[40]):
    gain: i32 = 3
    for i in range(40):
        y[i] = gain * x[i]


@weft.kernel
def behind_alone(x: i32[40], out: i32[1]):
    least: i32 = 1000
    for i in range(40):
        least = min(least, x[i])
    out[0] = least


@weft.kernel
def levinson(r: f32[10], a: f32[10]):
    t: f32[10] = 0.0
    error: f32 = r[0]
    a[0] = 1.0
    for i in range(1, 10):
        acc: f32 = r[i]
        for j in range(1, i):
            acc += a[j] * r[i - j]
        k: f32 = -acc / error
        for j in range(1, i):
            t[j] = a[j] + k * a[i - j]
        for j in range(1, i):
            a[j] = t[j]
        a[i] = k
        error = error * (1.0 - k * k)


KERNELS = (in_front_between_and_behind, constants_alone, behind_alone)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_most_points_take_what_the_model_says(kernel: weft.Kernel, tool: str) -> None:
    where = setting(tool, None, None)
    space = space_of(kernel.program, where.tool, reassociate=True)
    estimates = Estimates(space)
    ratios: list[float] = []
    for point in drawn(space, random.Random(0), 200, 8):
        schedule = space.schedule(point)
        if schedule is None:
            continue
        exact = ranked(apply(space.program, schedule), schedule, where).answer
        ratios.append(estimates.figures(point).cycles / exact.latency.average)
        if len(ratios) == 6:
            break
    near = sum(abs(ratio - 1) < 0.02 for ratio in ratios)
    assert near >= 5, ratios


def test_loops_that_a_structure_brings_among_statements_have_figures_too():
    """Of sums in parts in shift registers, what is loaded first stands beside statements outside all loops."""
    space = space_of(levinson.program, setting(TOOLS[0]).tool, reassociate=True)
    estimates, carried = Estimates(space), [v.name.endswith("carried") for v in space.variants]
    assert any(carried)
    for number in (n for n, there in enumerate(carried) if there):
        assert estimates.figures(space.plain(number)).cycles > 0
