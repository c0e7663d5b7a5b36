"""Estimates of random designs against brute force, and the benchmark that counts violations."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Pipeline, Reassociate, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.schedule.compose import function_latency
from qor_gnn.schedule.loops import Scope
from qor_gnn.tools.personality import Personality, allowed, personality
from tests.support.qor_checks import OPEN, VITIS, bound_faults, interval_faults, open_faults
from tests.support.qor_oracle import needed
from tests.support.random_recurrences import random_directives, random_recurrence
from weft import f32, i32

ROOT = Path(__file__).resolve().parents[2]
ZU9EG = "vitis-2022.1-zu9eg-10ns"
U280 = "vitis-2023.2-u280-3.33ns"
ADD, MUL = 4, 3  # states of 2022.1


def least(kernel, *steps, tool: str = ZU9EG) -> int:
    """The interval that the oracle asks for in the only pipeline."""
    state = apply(kernel.program, Schedule(steps))
    chosen: Personality = allowed(personality(tool), bool(state.reassociated))
    design = kernel_of_tree(loop_tree(state))
    regions = function_latency(Scope(design, chosen), design.functions[0])[1]
    (region,) = [r for r in regions if r.pipeline is not None]
    free = bool(state.reassociated)
    interval = 1
    while (found := needed(design, chosen, region.loops, interval, free=free)) is not None:
        interval = found.interval
    return interval


@weft.kernel
def rows(L: f32[32, 8], w: f32[8]):
    for t in range(1, 32):
        for c in range(8):
            L[t, c] = (L[t - 1, 0] + L[t - 1, 7]) * w[c]


@weft.kernel
def away(x: f32[40]):
    for i in range(32):
        x[i + 4] = x[i] + 1.5


@weft.kernel
def accumulated(x: f32[32], y: f32[1]):
    for i in range(32):
        y[0] += x[i]


@weft.kernel
def counted(x: i32[32], y: i32[1]):
    for i in range(32):
        y[0] += x[i]


@weft.kernel
def read(x: f32[64, 3], y: f32[64]):
    for i in range(64):
        y[i] = x[i, 0] + x[i, 1] + x[i, 2]


def test_the_oracle_knows_how_far_apart_two_iterations_are() -> None:
    assert least(rows, Pipeline("c")) == ADD + MUL  # from the end of a row to the next one's start
    assert least(away, Pipeline("i")) == ADD // 4
    assert least(away, Pipeline("i"), Unroll("i", 2)) == ADD // 2
    assert least(accumulated, Pipeline("i")) == ADD - 1


def test_the_oracle_lets_a_tool_do_what_it_may() -> None:
    assert least(accumulated, Pipeline("i"), Unroll("i", 4)) == 4 * ADD
    free = (Reassociate("S0"), Pipeline("i"), Unroll("i", 4))
    assert least(accumulated, *free, tool=U280) == 4  # one adder in logic for all four
    banks = Partition("x", 0, "cyclic", 4)
    assert least(counted, Pipeline("i"), Unroll("i", 4), banks) == 1


def test_the_oracle_counts_ports_of_banks() -> None:
    one_read = Pipeline("i")
    assert least(read, one_read) == 2  # three reads, two ports
    assert least(read, one_read, Partition("x", 1, "complete")) == 1
    assert least(read, one_read, Partition("x", 0, "block", 2)) == 2
    assert least(read, one_read, Unroll("i", 2), Partition("x", 0, "cyclic", 2)) == 2


@weft.kernel
def guarded(x: f32[16, 8], y: f32[1]):
    s: f32 = 0.5
    for i in range(16):
        for j in range(8):
            s = s + x[i, j]
            if j % 2 == 0:
                s = x[i, 7 - j] - s * x[i, j]
    y[0] = s


@weft.kernel
def divided(x: f32[32], y: f32[1]):
    s: f32 = 1.0
    for i in range(32):
        s = x[i] - s
        if i > 4:
            s = s / x[31 - i]
    y[0] = s


@weft.kernel
def ended(x: f32[16, 8], y: f32[1]):
    s: f32 = 0.5
    for i in range(16):
        for j in range(8):
            s = s + x[i, j]
        s = s * x[i, 0]
    y[0] = s


@pytest.mark.parametrize("tool", [*VITIS, *OPEN])
@pytest.mark.parametrize(
    ("kernel", "loop"), [(guarded, "j"), (divided, "i"), (ended, "j"), (rows, "c"), (away, "i")]
)
def test_intervals_are_no_less_than_the_oracle_asks_for(kernel, loop: str, tool: str) -> None:
    """Also where a register is stored to under a guard, behind a store in every iteration."""
    for steps in ((), (Unroll(loop, 2),), (Unroll(loop, 4),)):
        schedule = Schedule((Pipeline(loop), *steps))
        state = apply(kernel.program, schedule)
        assert [*interval_faults(schedule, state, (tool,))] == []


@pytest.mark.parametrize("first", [100, 120])
def test_intervals_of_random_designs_are_no_less_than_needed(first: int) -> None:
    for seed in range(first, first + 20):
        program = random_recurrence(seed)
        schedule, state = random_directives(random.Random(seed), program)
        assert [*interval_faults(schedule, state)] == [], seed


@pytest.mark.parametrize(
    "seed",
    [
        1000809,  # a maximum of floats in partial sums: its chain is a tree
        1000987,  # a reassociated sum of one term, many times: the tool adds it up once
        1001081,  # copies of a pipeline with the same constraints, other operations
    ],
)
def test_programs_that_were_under_a_bound_or_ended(seed: int) -> None:
    program = random_recurrence(seed)
    schedule, state = random_directives(random.Random(seed), program)
    assert [*bound_faults(program, schedule, state)] == []


@pytest.mark.parametrize("first", [100, 110])
def test_latencies_of_random_designs_keep_their_bounds(first: int) -> None:
    for seed in range(first, first + 10):
        program = random_recurrence(seed)
        schedule, state = random_directives(random.Random(seed), program)
        assert [*bound_faults(program, schedule, state)] == [], seed


def test_the_open_backends_scheduler_keeps_the_bounds() -> None:
    """Its cycles are those of a simulation: they show that the bounds are true."""
    for seed in range(10):
        program = random_recurrence(seed)
        schedule, state = random_directives(random.Random(seed), program)
        assert [*open_faults(program, schedule, state)] == [], seed


def test_the_benchmark_has_its_rows() -> None:
    command = [sys.executable, "-m", "benchmarks.fuzz_qor", "--programs", "4", "--jobs", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    found = {row["metric"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert set(found) == {"programs", "bound_violations", "ii_violations", "crashes"}
    assert found["programs"]["value"] == 4
    assert {row["case"] for row in found.values()} == {"all"}
