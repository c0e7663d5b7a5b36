"""Choices as searches: what the step makes of a program, that it means the same, and what it refuses."""

from __future__ import annotations

import linecache
from pathlib import Path

import numpy as np
import pytest

import weft
from dsl import interp
from dsl.errors.errors import ScheduleError
from dsl.kernels.loader import load
from dsl.programs.program import Program
from dsl.schedules.recurrence_steps import Locate
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.schedule import apply
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from tests.support.random_choices import random_choices
from weft import f32, i32


@weft.kernel
def least(x: f32[6, 9], at: i32[2], y: f32[1]):
    best: f32 = 5.0
    for i in range(6):
        for j in range(8, -1, -2):
            if x[i, j] < best:
                best = x[i, j]
                at[0] = i
                at[1] = j
    y[0] = best


@weft.kernel
def first(x: i32[16], key: i32[1], at: i32[1]):
    at[0] = -1
    for i in range(16):
        if x[i] == key[0]:
            at[0] = i
            break


@weft.kernel
def closed(x: i32[16], at: i32[4], y: i32[16], n: i32[16]):
    for i in range(16):
        if x[i] > 3:
            at[0] = y[i]
        if x[i] > 4:
            at[1] = i
            y[i] = at[1]
        if x[i] > at[2]:
            at[2] = i
        y[i] += 1
    for i in range(16):
        for j in range(i):
            if x[j] > 0:
                at[3] = j
        if n[i] > 0:
            n[i] = i


@weft.kernel
def nearest(x: i32[12, 3], y: i32[3], at: i32[2]):
    least = 1000
    for p in range(12):
        d = 0
        for k in range(3):
            d += (x[p, k] - y[k]) * (x[p, k] - y[k])
        if d < least:
            least = d
            at[0] = p
    at[1] = least


@weft.kernel
def own_changes(a: i32[9], at: i32[4]):
    for p in range(8):
        a[p] = a[p] * 2
        if a[p] > 3:
            at[0] = p
        a[p] = a[p] + 1
    for p in range(8):
        a[p] = a[p] - p
        if a[p] > 3:
            at[1] = p
        a[p + 1] = a[p + 1] + 1
    for p in range(8):
        a[p // 2] = a[p // 2] + p
        if a[p // 2] > 3:
            at[2] = p
    for p in range(8):
        a[p] = a[p] * 3
        if a[p] > 3:
            at[3] = p


NUMPY = {"i32": np.int32, "i16": np.int16, "u8": np.uint8, "f32": np.float32}


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def test_an_index_of_an_extremum_is_searched_behind() -> None:
    schedule = steps().locate("S3", "S3.i").locate("S4", "S4.i")
    text = nest(least.program, schedule)
    assert text == (
        "S0()\nS3_old()\nS4_old()\n"
        "i: 0 .. 6\n  j: 0 .. 5\n    S2(i, -2*j + 8)\n"
        "S4_init()\n"
        "i.2: 0 .. 6\n  j.2: 0 .. 5\n    S4(i.2, -2*j.2 + 8)\n"
        "S4_end()\nS3_init()\n"
        "i.3: 0 .. 6\n  j.3: 0 .. 5\n    S3(i.3, -2*j.3 + 8)\n"
        "S3_end()\nS5()"
    )


def test_a_first_match_needs_no_flag() -> None:
    program = apply(first.program, steps().locate("S2", "i").build()).scop.program
    assert [s.name for s in program.statements()] == ["S0", "S1", "S2_init", "S2", "S2_end"]
    assert program.array("at_pos").dtype == weft.i6


SCHEDULES = [
    (least, steps().locate("S3", "S3.i").locate("S4", "S4.i").distribute(["S4"]).pipeline("S4.j")),
    (least, steps().locate("S4", "S4.j")),
    (first, steps().locate("S2", "i").partial_sums("S2", "i", 4).split("i", 4).unroll("i_1")),
    (nearest, steps().expand("d", "p").locate("S5", "p").pipeline("S5.p")),
    (own_changes, steps().locate("S9", "S9.p")),
]


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES)]
    found = check_levels(cases, cxx=False) + check_levels(cases[-1:], jit=False)
    assert not found, found[0].report()


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Locate("S0", "S0.i"), "S2 changes y[i] after it is read"),
        (Locate("S1", "S1.i"), "accesses at[1] in 'i'"),
        (Locate("S3", "S3.i"), "at[2] is no minimum or maximum"),
        (Locate("S2", "S2.i"), "y[i] is another element along"),
        (Locate("S5", "S5.i"), "the iterations of 'j' are no constant number"),
        (Locate("S6", "S6.i"), "n[i] is another element along 'i'"),
        (Locate("S5", "S0.i"), "S5 does not run in 'S0.i'"),
    ],
)
def test_refusals(step: Locate, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(closed.program, Schedule((step,)))
    assert caught.value.code == "W233"
    assert text in caught.value.render()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("S1", "S2 changes a[p] after it is read"),
        ("S4", "S3 changes a[p] before it is read"),
        ("S7", "before it is read"),
    ],
)
def test_what_an_iteration_compares_is_its_own_and_done(name: str, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(own_changes.program, steps().locate(name, f"{name}.p").build())
    assert text in caught.value.render()


def test_it_comes_first() -> None:
    with pytest.raises(ScheduleError, match="comes after steps that ask something of loops"):
        apply(first.program, steps().pipeline("i").locate("S2", "i").build())


def located(program: Program) -> Schedule:
    """The schedule that makes searches of all choices that can be."""
    schedule = Schedule()
    for name in [s.name for s in program.statements()]:
        pieces = apply(program, schedule).of_statement(name)
        for dim in pieces[0].dims if pieces else ():
            longer = schedule.then(Locate(name, f"{name}.{dim.name}"))
            try:
                apply(program, longer)
            except ScheduleError:
                continue
            schedule = longer
            break
    return schedule


def kernel(folder: Path, text: str) -> Program:
    """The program of a kernel ``k`` in this text."""
    file = folder / "k.py"
    file.write_text(f"import weft\nfrom weft import f32, i16, i32, u8\n\n{text}", encoding="utf-8")
    linecache.checkcache(str(file))
    return load(f"{file}:k").program


def test_random_kernels_choose_the_same(tmp_path: Path) -> None:
    found = 0
    for seed in range(40):
        program = kernel(tmp_path, random_choices(seed))
        schedule = located(program)
        after = apply(program, schedule).scop.program
        found += len(schedule)
        rng = np.random.default_rng(seed)
        for _ in range(4 if len(schedule) else 0):
            given = [
                (a.name, rng.integers(0, 6, a.shape).astype(np.float32)) for a in program.arguments
            ]
            inputs = {n: v.astype(NUMPY[str(program.array(n).dtype)]) for n, v in given}
            before, behind = interp.run(program, inputs), interp.run(after, inputs)
            for name, values in before.items():
                assert np.array_equal(values, behind[name]), seed
    assert found > 8
