"""Elements that move from copy to copy: no recurrence, and yet an iteration waits for the ones before."""

from __future__ import annotations

from itertools import pairwise

import pytest

import weft
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.personality import available, personality
from tests.support.qor_checks import bound_faults
from weft import f32, i32

N, M = 4, 4


@weft.kernel
def divided(a: f32[10], y: f32[M]):
    for i in range(N):
        for j in range(M):
            a[i + j] = y[j] / a[i + j]


@weft.kernel
def backwards(a: f32[10], y: f32[M]):
    for i in range(N):
        for j in range(M):
            a[i + M - 1 - j] = y[j] + a[i + M - 1 - j]


@weft.kernel
def two_apart(a: f32[20], y: f32[M]):
    for i in range(N):
        for j in range(M):
            a[2 * i + 2 * j] = y[j] * a[2 * i + 2 * j]


@weft.kernel
def between_arrays(a: f32[10], b: f32[10], y: f32[M]):
    for i in range(N):
        for j in range(M):
            b[i + j] = a[i + j] * y[j]
            a[i + j] = b[i + j] + y[j]


@weft.kernel
def integers(a: i32[10], y: i32[M]):
    for i in range(N):
        for j in range(M):
            a[i + j] = y[j] // (a[i + j] + 1)


@weft.kernel
def still(a: f32[10, M], y: f32[M]):
    for i in range(N):
        for j in range(M):
            a[i, j] = y[j] / a[i, j]


KERNELS = (divided, backwards, two_apart, between_arrays, integers)


def estimated(kernel: Kernel, tool: str, ii: int = 1) -> QorEstimate:
    tree = loop_tree(apply(kernel.program, Schedule((Pipeline("i", ii),))))
    return estimate(kernel_of_tree(tree), personality(tool))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_no_estimate_is_under_the_bounds(kernel: Kernel) -> None:
    for steps in ((Pipeline("i"),), (Pipeline("i"), Partition("a", 0, "complete"))):
        state = apply(kernel.program, Schedule(steps))
        assert [*bound_faults(kernel.program, Schedule(steps), state)] == []


@pytest.mark.parametrize("tool", available())
def test_the_chain_of_one_element_is_in_the_latency(tool: str) -> None:
    # Element 3 passes through all four iterations, one division in each.
    answer = estimated(divided, tool)
    divider = personality(tool).operator("div", "f32", 32, None)
    assert answer.latency.minimum >= N * (divider.distance - 1)


@pytest.mark.parametrize("tool", available())
def test_what_waits_for_nothing_is_not_deeper(tool: str) -> None:
    moving, fixed = estimated(divided, tool), estimated(still, tool)
    deep, shallow = (next(r for r in a.loops if r.ii is not None) for a in (moving, fixed))
    assert deep.ii == shallow.ii
    assert deep.depth > shallow.depth
    divider = personality(tool).operator("div", "f32", 32, None)
    assert shallow.depth < 2 * divider.distance


def test_the_depth_falls_as_the_interval_grows() -> None:
    # The longer the interval, the less there is to wait for.
    depths = []
    for ii in (4, 8, 12, 20):
        answer = estimated(divided, "open-ecp5-10ns", ii)
        depths.append(next(r.depth for r in answer.loops if r.ii == ii))
    assert all(a >= b for a, b in pairwise(depths))
    assert depths[0] > depths[-1]


@weft.kernel
def handed_on(x: f32[16], y: f32[16], z: f32[16]):
    for i in range(1, 16):
        y[i] = x[i] / 3.0
        z[i] = y[i - 1] + 1.0


@pytest.mark.parametrize("tool", available())
def test_what_a_later_iteration_takes_is_there_by_then(tool: str) -> None:
    # No value depends on itself: the sum of an iteration waits for the division of the one before.
    answer = estimated(handed_on, tool)
    (row,) = (r for r in answer.loops if r.ii is not None)
    found = personality(tool)
    divider, adder = (found.operator(kind, "f32", 32, None) for kind in ("div", "add"))
    assert row.depth >= divider.distance + adder.distance - row.ii


@weft.kernel
def of_counters(y: f32[64]):
    for i in range(64):
        x: f32 = 0.0
        for t in range(6):
            x = x * x + f32(i) * 0.25
        y[i] = x


@weft.kernel
def of_elements(c: f32[64], y: f32[64]):
    for i in range(64):
        x: f32 = 0.0
        for t in range(6):
            x = x * x + c[i] * 0.25
        y[i] = x


def test_what_is_computed_of_counters_moves_with_them():
    steps = Schedule((Pipeline("i"), Unroll("t")))
    found = [
        estimate(kernel_of_tree(loop_tree(apply(kernel.program, steps))))
        for kernel in (of_counters, of_elements)
    ]
    counters, elements = found
    assert counters.dsp >= elements.dsp
    assert counters.latency.average >= elements.latency.average - 2  # a load less
