"""Loops have whatever names their author gave them, among them those that MLIR's values get."""

from __future__ import annotations

import pytest

import weft
from backends.equivalence import equivalence
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Unroll
from mlir_passes.pipeline import compile_design
from weft import i32, u8


@weft.kernel
def values(t: i32[8], x: u8[8], y: i32[8]):
    for v0 in range(8):
        y[v0] = t[x[v0] & 7] + v0
    for v1 in range(8):
        for v2 in range(v1, 8):
            y[7 - v2] += t[x[7 - v1] & 7] * v1


@pytest.mark.parametrize("unrolled", [False, True])
def test_loops_with_the_names_of_values_are_proven(unrolled: bool) -> None:
    schedule = Schedule((Unroll("v1"),) if unrolled else ())
    assert equivalence(compile_design(values.program, schedule)).verdict == "proven"
