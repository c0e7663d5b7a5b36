"""What a design has besides: a loop with more to do is no faster for it, and none that shares nothing with it slower."""

from __future__ import annotations

import pytest

import weft
from weft import f32

TOOLS = ("vitis-2021.1", "vitis-2022.1", "vitis-2023.2", "vitis-2025.1")


@weft.kernel
def product(A: f32[60, 10], b: f32[10], y: f32[60]):
    for i in range(60):
        for k in range(10):
            y[i] += A[i, k] * b[k]


@weft.kernel
def behind_a_maximum(A: f32[60, 10], b: f32[10], y: f32[60], a: f32[60], s: f32[1]):
    for m in range(60):
        s[0] = max(s[0], a[m])
    for i in range(60):
        for k in range(10):
            y[i] += A[i, k] * b[k]


@weft.kernel
def before_a_maximum(A: f32[60, 10], b: f32[10], y: f32[60], a: f32[60], s: f32[1]):
    for i in range(60):
        for k in range(10):
            y[i] += A[i, k] * b[k]
    for m in range(60):
        s[0] = max(s[0], a[m])


@pytest.mark.parametrize("tool", TOOLS)
def test_a_design_with_one_more_loop_is_not_faster(tool: str) -> None:
    """What the product loads in front does not run while a call waits that it runs at the same time as."""
    alone = weft.estimate(product, tool=tool).latency.average
    for more in (behind_a_maximum, before_a_maximum):
        assert weft.estimate(more, tool=tool).latency.average >= alone
