"""Stores to banks that are known at run time only: later loads wait, earlier ones cannot."""

import pytest

import weft
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Split, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.tools.personality import available
from weft import f32


@weft.kernel
def smoothed(A: f32[8, 10]):
    for i in range(8):
        for j in range(1, 9):
            A[i, j] = A[i, j - 1] + A[i, j + 1]


@weft.kernel
def backwards(A: f32[8, 10]):
    for i in range(8):
        for j in range(8, 0, -1):
            A[i, j] = A[i, j - 1] + A[i, j + 1] * A[i, j]


@pytest.mark.parametrize("tool", available())
@pytest.mark.parametrize("kernel", [smoothed, backwards], ids=lambda k: k.name)
@pytest.mark.parametrize("scheme", ["cyclic", "block"])
@pytest.mark.parametrize("banks", [2, 5])
def test_copies_of_an_update_in_place_have_a_schedule(kernel, scheme, banks, tool):
    cycles = []
    for copies in (1, 2, 4):
        steps = (Unroll("j", copies), Partition("A", 1, scheme, banks))
        design = kernel_of_tree(loop_tree(apply(kernel.program, Schedule(steps))))
        cycles.append(estimate(design, tool).latency.average)
    add = 3  # states at least of each of 64 sums that wait for each other
    assert min(cycles) >= 64 * add


@weft.kernel
def three_updates(A: f32[7, 8], B: f32[5, 5], x: f32[9]):
    # The last one may load what the first stored, to a bank that is known at run time only.
    for i in range(2, 7):
        A[i - 1, i] = x[i + 2] + A[i - 1, i]
        B[i - 2, i - 2] += x[6 - i]
        A[1, i + 1] += max(x[i + 1], x[i + 2])


@pytest.mark.parametrize("tool", available())
def test_what_waits_for_a_switch_is_behind_it(tool):
    banks = (Partition("A", 1, "complete"), Partition("B", 0, "complete"))
    steps = (Split("i", 4), *banks)
    design = kernel_of_tree(loop_tree(apply(three_updates.program, Schedule(steps))))
    one_after_the_other = 2 * 3  # the sums of the first and the last update
    assert all(row.depth >= one_after_the_other for row in estimate(design, tool).loops)
