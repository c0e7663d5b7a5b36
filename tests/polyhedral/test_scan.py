"""Running sums in blocks: what the step makes of a program, that it means the same, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import weft
from backends.equivalence import equivalence
from backends.tolerance import tolerances
from dsl import interp
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ScheduleError
from dsl.programs.program import Program
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.refutation import Refutation
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply
from tests.polyhedral.show import nest
from tests.support.bits import same
from tests.support.levels import Case, check_levels
from weft import f32, fixed, i8, i32, u8, u16


@weft.kernel
def prefix(x: i32[16], y: i32[16], z: i32[16]):
    run: i32 = 0
    for i in range(16):
        z[i] = run
        run += x[i]
        y[i] = run


@weft.kernel
def rows(x: u8[3, 13], y: u8[3, 14], least: i8[1], h: u16[14], s: i8[13]):
    for r in range(3):
        for i in range(13):
            y[r, i + 1] = y[r, i] + (x[r, i] + 200)
    for i in range(12, 1, -2):
        t = s[i]
        least[0] = min(least[0], s[i])
        if i > 6:
            s[i] = t + least[0]
    for i in range(1, 14):
        h[i] = h[i] ^ h[i - 1]
    for i in range(13):
        least[0] -= s[i]
        for r in range(3):
            x[r, i] += u8(least[0])


@weft.kernel
def mean(x: f32[16], y: f32[16]):
    for i in range(1, 16):
        y[i] = y[i - 1] + x[i]


@weft.kernel
def closed(
    x: i32[16],
    y: i32[16],
    z: i32[16],
    w: i8[16],
    p: fixed[8, 4][1],
    s: i32[1],
    c: i32[4, 16],
    t: i32[1],
):
    for i in range(16):
        s[0] += y[i]
        y[(i + 5) % 16] = s[0]
    for i in range(2, 16):
        z[i] = z[i - 2] + x[i]
    for i in range(16):
        s[0] += x[i]
        s[0] += 1
    for i in range(16):
        if i > 3:
            s[0] += x[i]
    for i in range(4):
        for j in range(i):
            s[0] += c[i, j]
    for i in range(16):
        p[0] *= 2
    for i in range(16):
        t[0] += x[i] * 2
        s[0] += t[0]


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def test_a_block_is_summed_up_by_itself() -> None:
    assert nest(prefix.program, steps().scan("S2", "i", 4)) == (
        "S0()\nS2_start()\n"
        "i_0: 0 .. 4\n"
        "  S2_first(i_0)\n"
        "  i_1: 1 .. 4\n    S2_scan(i_0, i_1)\n"
        "  i_1.2: 0 .. 4\n    S1(i_0, i_1.2)\n    S2(i_0, i_1.2)\n    S3(i_0, i_1.2)\n"
        "  S2_carry(i_0)"
    )
    rest = nest(prefix.program, steps().scan("S2", "i", 5))
    assert rest.endswith("\nS1_rest(15)\nS2_rest(15)\nS3_rest(15)")


def test_a_last_block_has_what_the_factor_leaves() -> None:
    assert nest(prefix.program, steps().scan("S2", "i", 5, "guard")) == (
        "S0()\nS2_start()\n"
        "i_0: 0 .. 4\n"
        "  S2_first(i_0)\n"
        "  if -i_0 + 2 >= 0\n    i_1: 1 .. 5\n      S2_scan(i_0, i_1)\n"
        "  i_1.2: 0 .. min(-5*i_0 + 16, 5)\n"
        "    S1(i_0, i_1.2)\n    S2(i_0, i_1.2)\n    S3(i_0, i_1.2)\n"
        "  if -i_0 + 2 >= 0\n    S2_carry(i_0)"
    )
    whole = steps().scan("S2", "i", 4, "guard"), steps().scan("S2", "i", 4)
    assert nest(prefix.program, whole[0]) == nest(prefix.program, whole[1])


SCHEDULES = [
    (prefix, steps().scan("S2", "i", 4).pipeline("i_0").partition("run_scan", 0, "complete")),
    (prefix, steps().scan("S2", "i", 5).unroll("S2.i_1", 5)),
    (
        rows,
        steps().scan("S0", "S0.i", 4).scan("S2", "S2.i", 4).scan("S4", "S4.i", 5)
        .scan("S5", "S5.i", 13),
    ),
    (
        prefix,
        steps().scan("S2", "i", 5, "guard").unroll("S2_scan.i_1", tail="guard")
        .unroll("S1.i_1", tail="guard").pipeline("i_0"),
    ),
    (
        rows,
        steps().scan("S0", "S0.i", 4, "guard").scan("S2", "S2.i", 4, "guard")
        .scan("S4", "S4.i", 5, "guard").scan("S5", "S5.i", 12, "guard"),
    ),
    (mean, steps().scan("S0", "i", 4)),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES)
def test_values_stay(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    after = apply(kernel.program, schedule.build()).scop.program
    for seed in range(3):
        inputs = random_inputs(kernel.program, seed)
        want, got = interp.run(kernel.program, inputs), interp.run(after, inputs)
        if tolerances(kernel.program, schedule.build()):
            assert all(np.allclose(want[name], got[name], 1e-5, 1e-5) for name in want)
        else:
            assert all(same(want[name], got[name]) for name in want)
    assert equivalence(compile_design(kernel.program, schedule.build())).verdict == "proven"


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES)]
    found = check_levels(cases, cxx=False) + check_levels(cases[-1:], jit=False)
    assert found == []


def test_a_running_sum_of_floats_has_the_roundings_of_all_terms() -> None:
    assert tolerances(mean.program, steps().scan("S0", "i", 4).build()) == {"y": 64}


@pytest.mark.parametrize(
    ("stmt", "loop", "said"),
    [
        ("S0", "S0.i", "S1 changes what it adds: y[i]"),
        ("S2", "S2.i", "S2 assigns what does not depend on z[i - 1]"),
        ("S6", "S6.i", "S6 runs in the loop 'j' inside"),
        ("S7", "S7.i", "products of fixed[8, 4] are cut"),
        ("S9", "S9.i", "S8 changes what it adds: t[0]"),
        ("S6", "S6.j", "'j' has no constant number of iterations"),
    ],
)
def test_what_is_no_running_sum_is_refused(stmt: str, loop: str, said: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(closed.program, steps().scan(stmt, loop, 4).build())
    assert caught.value.code == "W234"
    assert f"{stmt} cannot run in blocks: {said}" in caught.value.render()


def test_what_belongs_to_one_iteration_is_handed_to_none() -> None:
    @weft.kernel
    def evens(x: i32[16], y: i32[16]):
        for i in range(16):
            if i % 2 == 0:
                low = min(x[i], 3)
                y[i] = low

    with pytest.raises(ScheduleError) as caught:
        apply(evens.program, steps().scan("S0", "i", 4).build())
    assert "each iteration of 'i' has a 'low' of its own" in caught.value.render()


def test_other_programs_are_refuted() -> None:
    (right,) = rewritings(prefix.program, steps().scan("S2", "i", 4).build())
    assert check_rewriting(right) is None
    wrong = replace(right, after=without_last(right.after))
    found = check_rewriting(wrong)
    assert isinstance(found, Refutation)
    assert "something else has changed" in found.message


def without_last(program: Program) -> Program:
    return replace(program, body=program.body[:-1])
