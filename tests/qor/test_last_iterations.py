"""Pipelines of unrolled loops whose factor does not divide the trip count."""

from __future__ import annotations

import pytest

import weft
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from weft import f32


@weft.kernel
def scaled(A: f32[38], B: f32[38]):
    for i in range(38):
        B[i] = A[i] * 3.0


@pytest.mark.parametrize("tool", ["vitis-2022.1", "vitis-2023.2", "vitis-2025.1"])
@pytest.mark.parametrize("factor", [3, 4, 5, 36])
def test_the_last_start_is_a_whole_one(tool: str, factor: int) -> None:
    """A pipeline starts 38 copies in threes 13 times, whatever of the last time is done."""
    plain = kernel_of_tree(loop_tree(apply(scaled.program, Schedule())))
    found = estimate(with_directives(plain, (Pipeline("i"), Unroll("i", factor))), tool)
    (row,) = found.loops
    starts = -(-38 // factor)
    assert row.trips.average == row.trips.maximum == starts
    assert row.latency.average == row.latency.maximum == (starts - 1) * row.ii + row.depth
