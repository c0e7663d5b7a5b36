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
