"""What is stored twice, or may be, is stored in order: recurrences in which no value depends on itself.

The open backend's own scheduler, whose cycles are those of its simulation, has the intervals that are expected.
"""

from __future__ import annotations

import pytest

import weft
from backends.devices import DEVICES
from dse.estimates.estimation import open_answer
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.tools.personality import allowed, personality
from tests.qor.figures.answers import estimates
from weft import f32, i16, i32

OPEN = personality("open-ecp5-10ns")
VITIS = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def overwritten(a: f32[12], x: f32[12]):
    for i in range(2, 10):
        a[i // 2 + 1] = x[2]
        a[i - 2] = x[i] - (x[i - 1] - a[i - 2])


@weft.kernel
def apart(a: f32[32], x: f32[12]):
    for i in range(2, 10):
        a[i + 20] = x[2]
        a[i - 2] = x[i] - (x[i - 1] - a[i - 2])


@weft.kernel
def doubled(a: i32[128], x: i32[128]):
    for n in range(40):
        a[2 * n + 1] = max(a[n] * 3, x[n]) - 5


@weft.kernel
def accumulated(x: i16[8], a: i16[20]):
    for i in range(4):
        for j in range(8):
            a[j + 1] += x[i + 2]


def _interval(kernel: Kernel, schedule: Schedule, tool=OPEN) -> float:  # type: ignore[no-untyped-def]
    state = apply(kernel.program, schedule)
    tree = kernel_of_tree(loop_tree(state))
    return estimate(tree, allowed(tool, reassociates=False)).loops[-1].ii


def _scheduled(kernel: Kernel, schedule: Schedule) -> float:
    return open_answer(kernel.program, schedule, OPEN, DEVICES[OPEN.device]).loops[-1].ii


ONE = Schedule((Pipeline("i"),))
COPIES = Schedule((Unroll("n", 5), Pipeline("n")))


def test_a_store_behind_an_earlier_iterations_store_is_on_a_cycle():
    # Load 1, a state for its word, two subtractions of 5, a store behind the store of the iteration before.
    assert _interval(overwritten, ONE) == _scheduled(overwritten, ONE) == 14
    assert _interval(overwritten, ONE, VITIS) == 12  # 2 + 4 + 4, and a state for each store


def test_stores_that_never_meet_are_on_none():
    assert _interval(apart, ONE) == 3  # loads of x, two of which the scheduler takes from registers
    assert _scheduled(apart, ONE) == 2
    assert _interval(apart, ONE, VITIS) == 2


def test_cycles_go_through_copies_that_may_be_of_one_element():
    model, scheduled = _interval(doubled, COPIES), _scheduled(doubled, COPIES)
    assert scheduled - 1 <= model <= scheduled + 2


@pytest.mark.parametrize("factor", [1, 2])
def test_what_a_pipeline_keeps_takes_ports_of_each_iteration_of_the_open_backend(factor: int):
    """All elements are in registers, and are loaded and stored in the first and last iteration."""
    schedule = Schedule((Pipeline("i"), Partition("a", 0, "cyclic", factor)))
    if factor == 1:
        schedule = ONE
    assert _interval(accumulated, schedule) == _scheduled(accumulated, schedule) == 8 / factor


@weft.kernel
def begun_within_a_state(A0: i32[16], A1: i32[16], X: i32[21], Y: i32[5]):
    for i, j in weft.grid(3, 2):
        for k in range(2, 8):
            A0[j % 3 + 1] = A0[1 - j] - X[6] + A1[2]
            A1[k % 2 + 2] = A0[2 - i] + Y[j]
    for i, j in weft.grid(16, 2):
        A0[3 - j] += X[j // 3 + 3] + (X[i + 4] - X[i + 2 * j + 3])
        A0[i] += X[i]
        A0[2 - j] = max(A1[15 - i], Y[j % 4 + 1])


@begun_within_a_state.schedule
def pipelined(s):
    s.pipeline("k")
    s.pipeline("S2.i")
    s.partition("A0", 0, scheme="complete")
    s.partition("X", 0, factor=2)


def test_operators_that_begin_within_a_state_end_the_search() -> None:
    """Alone they take a state less than behind what is chained in front of them."""
    kernel = begun_within_a_state
    found = dict(estimates(kernel.program, kernel.schedules["pipelined"]))
    assert all(estimate.loops[-1].ii >= 2 for estimate in found.values())
