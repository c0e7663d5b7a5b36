"""Iterations whose values nothing reads: which are left out, that the program means the same, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import weft
from backends.equivalence import equivalence
from dse.space.space import space_of
from dsl.errors.errors import ScheduleError
from dsl.programs.program import Loop, Program
from dsl.schedules.range_steps import Trim
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from qor_gnn.tools.personality import personality
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from weft import i16, i32, u8, u16

TOOL = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def intervals(p: u16[9], out: i32[1]):
    m: i32[8, 8] = 0
    for i in range(6, -1, -1):
        for j in range(i + 1, 8):
            best: i32 = 1000000
            for k in range(i, j):
                left: i32 = m[i, k]
                right: i32 = m[k + 1, j]
                best = min(best, left + right + p[i] * p[k + 1] * p[j + 1])
            m[i, j] = best
    out[0] = m[0, 7]


@weft.kernel
def common(a: u8[6], b: u8[7], out: i16[1]):
    t: i16[7, 8] = 0
    for i in range(6):
        for j in range(7):
            t[i + 1, j + 1] = t[i, j] + 1 if a[i] == b[j] else max(t[i, j + 1], t[i + 1, j])
    out[0] = t[6, 7]


@weft.kernel
def unused(x: i16[8], y: i16[8]):
    t: i16[8]
    for n in range(8):
        t[n] = 7
    for n in range(8):
        t[n] = x[n]
    for n in range(0, 8, 2):
        y[n] = t[n]


@weft.kernel
def added(x: i16[6, 4], y: i16[6]):
    t: i16[8] = 0
    for i in range(6):
        for j in range(4):
            t[i] += x[i, j]
    for i in range(6):
        y[i] = t[i]


@weft.kernel
def looked_up(x: u8[8], at: u8[8], y: u8[8]):
    t: u8[8] = 3
    for n in range(8):
        t[at[n] % 8] = x[n]
    for n in range(7):
        y[n] = t[n]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def after(kernel: weft.Kernel, stmt: str) -> str:
    return nest(kernel.program, steps().trim(stmt))


def test_what_nothing_reads_is_left_out() -> None:
    assert after(intervals, "S0").startswith("m_i: 0 .. 8\n  S0(m_i, m_i)\ni:")
    assert after(common, "S0").startswith(
        "t_i: 0 .. 7\n  if t_i - 1 >= 0\n    S0(t_i, 0)\n"
        "  if -t_i >= 0\n    t_j: 0 .. 8\n      S0(0, t_j)\ni:"
    )
    assert after(unused, "S0") == "n: 0 .. 8\n  S1(n)\nn.2: 0 .. 4\n  S2(n.2)"


SCHEDULES = [
    (intervals, steps().trim("S0").mirror("m", "m[k + 1, j]").skew("S1.i", "S1.j", 1)),
    (common, steps().trim("S0").skew("S1.i", "S1.j", 1).pipeline("S1.j")),
    (unused, steps().trim("S1").trim("S0").pipeline("S1.n")),
    (added, steps().trim("S0").pipeline("S1.j")),
]


def test_every_level_computes_the_same() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES)]
    failures = check_levels(cases, cxx=False) + check_levels(cases[:1], jit=False)
    assert not failures, failures[0].detail


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES)
def test_it_is_proven(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    assert equivalence(compile_design(kernel.program, schedule.build())).verdict == "proven"


@pytest.mark.parametrize(
    ("kernel", "schedule", "text"),
    [
        (unused, steps().trim("S2"), "'y' is no local"),
        (looked_up, steps().trim("S0"), "each value that S0 assigns is read"),  # or may be
        (looked_up, steps().trim("S1"), "which elements S1 assigns is data"),
        (intervals, steps().trim("S1"), "each value that S1 assigns is read"),
        (unused, steps().trim("S0").trim("S0"), "no statement is called 'S0'"),
        (unused, steps().pipeline("S0.n").trim("S0"), "comes after steps that ask something"),
    ],
)
def test_what_cannot_be_is_said(kernel: weft.Kernel, schedule: ScheduleBuilder, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(kernel.program, schedule.build())
    assert caught.value.code in {"W246", "W205"}
    assert text in caught.value.render()


def fewer(program: Program) -> Program:
    """Without the last iteration of its first loop."""
    first, *rest = program.body
    assert isinstance(first, Loop)
    return replace(program, body=(replace(first, uppers=(first.uppers[0] - 1,)), *rest))


def without_first(program: Program) -> Program:
    return replace(program, body=program.body[1:])


def other_order(program: Program) -> Program:
    first, second, *rest = program.body
    return replace(program, body=(second, first, *rest))


@pytest.mark.parametrize("change", [fewer, without_first, other_order])
def test_other_programs_are_refuted(change: Callable[[Program], Program]) -> None:
    right = rewritings(common.program, steps().trim("S0").build())[-1]
    assert check_rewriting(right) is None
    found = check_rewriting(replace(right, after=change(right.after)))
    assert found is not None
    assert found.code == "W339"


def test_searches_fill_the_border_alone() -> None:
    found = {s for v in space_of(intervals.program, TOOL).variants for s in v.steps}
    assert Trim("S0") in found
    # A row and a column are a condition in loops over the whole table.
    both = {s for v in space_of(common.program, TOOL).variants for s in v.steps}
    assert not any(isinstance(s, Trim) for s in both)
