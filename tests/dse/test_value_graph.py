"""Bounds by all values of a program, one by one: chains of any distance, logic, and what steps may reorder."""

from __future__ import annotations

import time
from math import ceil

import pytest

import weft
from dse.bounds import work
from dse.bounds.bounds import bounds
from dse.bounds.distinct import facts_of
from dse.bounds.value_graph import MOST
from dse.space.space import space_of
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.estimate import estimate
from qor_gnn.tools.personality import Personality, allowed, personality
from tests.dse.test_bounds_hold import some_points
from weft import f32, i8, i16, i32, u8, u16, u32

work_of = work.work_of.__wrapped__  # what was counted is kept, and tests change the limits

TOOL = personality("vitis-2022.1-xc7z020-1-10ns")
ADD, MUL = (TOOL.operator(kind, "f32", 32).distance for kind in ("add", "mul"))


@weft.kernel
def third(x: f32[31]):
    for i in range(3, 31):
        x[i] = x[i - 3] * x[i - 3] + 0.5


@weft.kernel
def through(a: f32[12], x: f32[13]):
    u: f32[12]
    for i in range(12):
        t: f32 = x[i] + a[i]
        u[i] = t
        if i < 11:
            x[i + 1] = u[i] * t
        else:
            x[12] = a[0]


@weft.kernel
def looked_up(table: u16[64], x: u8[32], y: u16[32]):
    run: u16 = 0
    for i in range(32):
        run = table[run & 63] + x[i]
        y[i] = run


@weft.kernel
def shifted(seed: u32[1], y: u32[64]):
    s: u32 = seed[0]
    for i in range(64):
        s = (s ^ (s << 13)) + 7
        y[i] = s


@weft.kernel
def largest(x: i32[128], best: i32[1], where: i32[1]):
    top: i32 = x[0]
    index: i32 = 0
    for i in range(1, 128):
        index = i if x[i] > top else index
        top = max(top, x[i])
    best[0] = top
    where[0] = index


@weft.kernel
def running(x: i16[96], y: i32[96]):
    total: i32 = 0
    for i in range(96):
        total += x[i]
        y[i] = total


@weft.kernel
def clamped(x: i8[64], y: i32[64]):
    here: i32 = 0
    for i in range(64):
        here = max(here + x[i], 0)
        y[i] = here


@weft.kernel
def reset(x: i16[64], c: u8[64], y: i32[64]):
    s: i32 = 0
    for i in range(64):
        s = s + x[i] if c[i] > 3 else x[i]
        y[i] = s


@weft.kernel
def counted(x: u8[200], h: u16[16]):
    for i in range(200):
        h[x[i] & 15] += 1


@weft.kernel
def nowhere(x: f32[8]):
    for i in range(2_000_000_000):
        if i < 0:
            x[0] = 1.0
    for i in range(8):
        x[i] = x[i] * x[i]


@weft.kernel
def decided(x: i32[8], y: i32[8], z: i32[8]):
    for i in range(8):
        y[i] = x[i] * x[7 - i] if i == 20 else x[i] + 3
        z[i] = (x[i] ^ x[7 - i]) * (i - i)


@weft.kernel
def largest_so_far(x: f32[16, 16], y: f32[16, 16]):
    for i in range(1, 16):
        for j in range(1, 16):
            y[i, j] = max(max(y[i - 1, j], y[i, j - 1]), x[i, j])


@weft.kernel
def window_sums(x: i32[128], y: i32[128]):
    s: i32 = 0
    for i in range(128):
        s += x[i]
        if i >= 4:
            s -= x[i - 4]
        y[i] = s


def chain(kernel, tool: Personality = TOOL, free: bool = False) -> int:
    return bounds(work_of(kernel.program, tool, free), tool, 10_000).recurrence.cycles


def test_a_chain_of_any_distance_is_as_long_as_it_is() -> None:
    # Of 28 elements a third; a product may save a state where it is the first behind what is stored.
    assert chain(third) == 10 * (MUL + ADD) - 9 * TOOL.recurrences.closing


def test_a_chain_goes_through_scalars_arrays_and_guards() -> None:
    # The last element has none of that.
    assert chain(through) == 10 * (ADD + MUL)


def test_a_table_that_data_index_is_waited_for() -> None:
    step = TOOL.operator("add", "int", 17).delay  # a mask is wires
    assert chain(looked_up) >= int(31 * step / TOOL.usable_ns)


def test_logic_that_does_not_compose_is_a_chain() -> None:
    step = TOOL.operator("xor", "int", 32).delay + TOOL.operator("add", "int", 32).delay
    assert chain(shifted) >= int(63 * step / TOOL.usable_ns)


def test_operations_of_integers_take_luts() -> None:
    work = work_of(running.program, TOOL)
    (core,) = (name for name in work.operations if name.startswith("add"))
    assert work.operations[core].times == 95  # the first term may be the sum
    each = TOOL.operator("add", "int", 32).lut
    found = bounds(work, TOOL, 0, 10 * each).lut
    assert found is not None
    half = TOOL.operator("ternary", "int", 32).lut  # of an adder of three operands, which does two
    assert found.cycles == ceil(95 / (10 * each // half))
    assert f"{10 * each:,} LUT" in found.reason


def test_what_a_loop_variable_decides_need_not_be_computed() -> None:
    """Where loops are unrolled, a choice by a loop variable is none, and a product with 0 is 0."""
    work = work_of(decided.program, TOOL)
    assert not [core for core in work.operations if core.startswith(("mul", "xor", "select"))]


def test_what_enters_twice_may_count_once() -> None:
    """The largest so far is that of 256 elements at most, a window the sum of four: ten levels, not thirty."""
    level = TOOL.operator("cmp", "f32", 32).distance + 1
    assert chain(largest_so_far) <= 10 * level
    assert chain(window_sums) <= 4


def test_iterations_that_do_nothing_are_not_gone_through() -> None:
    began = time.process_time()
    first = facts_of(nowhere.program).graph(MOST)
    assert first is not None
    assert not first.whole
    assert work_of(nowhere.program, TOOL).operations["fmul"].times == 8
    assert time.process_time() - began < 20


def test_larger_programs_are_gone_through_where_little_else_is_known(monkeypatch) -> None:
    monkeypatch.setattr(work, "MOST", 100)
    monkeypatch.setattr(work, "LARGE", 6_000)
    sweeps, sums = (work_of(k.program, TOOL, True) for k in (in_place, all_counted))
    assert sweeps.operations["fadd"].times > 500
    assert "longest chain" in sweeps.chains[0][1]
    assert not any("longest chain" in why for _, why in sums.chains)
    monkeypatch.setattr(work, "LARGE", 100)
    assert work_of(in_place.program, TOOL, True).operations["fadd"].times < 100


def test_a_sum_that_begins_with_0_has_an_addition_less(monkeypatch) -> None:
    for most in (0, 150_000):
        monkeypatch.setattr(work, "MOST", most)
        monkeypatch.setattr(work, "LARGE", most)
        for free, additions in ((True, 8 * 15), (False, 8 * 16)):
            assert work_of(all_counted.program, TOOL, free).operations["fadd"].times == additions


@weft.kernel
def in_place(A: f32[40]):
    for _ in range(16):
        for i in range(1, 39):
            A[i] = A[i] + 0.25 * A[i - 1] + 0.5 * A[i + 1]


@weft.kernel
def all_counted(A: f32[8, 16], x: f32[16], y: f32[8]):
    for i in range(8):
        y[i] = 0.0
        for k in range(16):
            y[i] += A[i, k] * x[k]


def _answers(program: Program, free: bool, count: int):
    space = space_of(program, TOOL, free)
    for point in some_points(space, 64, count):
        schedule = space.schedule(point)
        if schedule is not None:
            yield schedule, _estimate(program, schedule)


def _estimate(program: Program, schedule: Schedule):
    state = apply(program, schedule)
    return estimate(kernel_of_tree(loop_tree(state)), allowed(TOOL, bool(state.reassociated)))


@pytest.mark.parametrize(
    "kernel", [largest, running, clamped, reset, counted], ids=lambda k: k.name
)
def test_no_design_with_searches_scans_or_parts_is_under_its_bounds(kernel) -> None:
    work = work_of(kernel.program, TOOL)
    steps = set()
    for schedule, answer in _answers(kernel.program, False, 16):
        steps |= {type(step).__name__ for step in schedule.steps}
        least = bounds(work, TOOL, answer.dsp, answer.lut)
        assert least.cycles <= answer.latency.average, (schedule.to_python(), least.tightest)
    assert steps & {"Locate", "Scan", "PartialSums"}
