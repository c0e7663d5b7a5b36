"""Versions of arrays that a loop updates in place: what the step makes of a program, that it means the same, what it refuses;
shift registers of what is handed on over a varying number of iterations then.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

import weft
from backends.equivalence import equivalence
from dsl.builder.program import ProgramBuilder
from dsl.errors.errors import ScheduleError
from dsl.programs.expanded import with_accesses
from dsl.programs.program import Program, Stmt, map_statements
from dsl.schedules.schedule import ScheduleBuilder
from mlir_passes.pipeline import compile_design
from polyhedral.equivalence.rewritings import check_rewriting, rewritings
from polyhedral.schedule import apply, tried
from polyhedral.scop.scheduled import build
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from tests.support.values import same_values
from weft import i16, i32, u3, u4


@weft.kernel
def knapsack(value: u4[4], out: i32[12]):
    row: i32[12] = 0
    for i in range(4):
        for c in range(11, i, -1):
            row[c] = max(row[c], row[c - i - 1] + value[i])
    for c in range(12):
        out[c] = row[c]


@weft.kernel
def coins(ways: i32[16]):
    ways[0] = 1
    for coin in range(1, 4):
        for c in range(coin, 16):
            ways[c] += ways[c - coin]


@weft.kernel
def batches(x: i16[2, 8], y: i16[2, 8]):
    for q in range(2):
        t: i16[8]
        for i in range(8):
            t[i] = x[q, i]
        for s in range(3):
            for i in range(1, 7):
                t[i] = t[i - 1] - 2 * t[i] + t[i + 1]
        for i in range(8):
            y[q, i] = t[i]


@weft.kernel
def closed(A: i32[8], B: i32[8], x: i32[2, 8], p: u3[8], best: i32[20], s: i32):
    for t in range(3):
        for i in range(8):
            A[i] = A[7 - i] + 1
    for t in range(3):
        for i in range(8):
            B[p[i]] += s
    for q in range(2):
        for t in range(q, 3):
            for i in range(8):
                x[q, i] += t
    for t in range(3):
        for c in range(19, 6, -1):
            best[c] = max(best[c], best[c - p[t]] + s)


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


SCHEDULES = [
    (
        knapsack,
        steps().versions("row", "i").fuse(["S1", "same_row"], 2).reverse("S1.c")
        .interchange("S1.i", "S1.c").carry("row_versions", "S1.c")
        .split("S1.i", 4, tail="guard").pipeline("S1.c"),
    ),
    (
        coins,
        steps().versions("ways", "coin").fuse(["S1", "same_ways"], 2)
        .interchange("S1.coin", "S1.c").fuse(["S1", "last_ways"], 1).carry("ways_versions", "S1.c"),
    ),
    (knapsack, steps().versions("row", "i", 2).reverse("S1.c").pipeline("S1.c")),
    (batches, steps().versions("t", "s", 3).pipeline("S1.i")),
    (batches, steps().skew("s", "S1.i", 1).versions("t", "s")),
]  # fmt: skip


def test_what_an_iteration_does_not_assign_is_copied() -> None:
    schedule = steps().versions("ways", "coin")
    assert nest(coins.program, schedule) == (
        "ways_0: 0 .. 16\n  first_ways(ways_0)\nS0()\n"
        "coin: 1 .. 4\n  c: 0 .. coin\n    same_ways(coin, c)\n  c.2: coin .. 16\n    S1(coin, c.2)\n"
        "ways_0.2: 0 .. 16\n  last_ways(ways_0.2)"
    )
    value = next(
        s for s in apply(coins.program, schedule.build()).scop.statements if s.name == "S1"
    )
    assert [str(a) for a in value.reads] == [
        "ways_versions[coin - 1, c]",
        "ways_versions[coin, c - coin]",
    ]


def test_items_are_a_chain_of_shift_registers_along_columns() -> None:
    program = apply(knapsack.program, SCHEDULES[0][1].build()).scop.program
    assert {a.name: a.shape for a in program.locals} == {
        "row_versions": (5, 12),
        "row_versions_now": (5,),
        "row_versions_carry": (4, 4),
    }
    ii = weft.estimate(knapsack, SCHEDULES[0][1].build()).loops[0].ii
    assert ii == 1


@pytest.mark.parametrize(("kernel", "schedule"), SCHEDULES)
def test_values_stay(kernel: weft.Kernel, schedule: ScheduleBuilder) -> None:
    assert same_values(kernel.program, apply(kernel.program, schedule.build()).scop.program)
    assert equivalence(compile_design(kernel.program, schedule.build())).verdict == "proven"


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, s.build()) for n, (k, s) in enumerate(SCHEDULES[1:4])]
    assert check_levels(cases, cxx=False) + check_levels(cases[:1], jit=False) == []


def update(seed: int) -> Program:
    """A row that is updated again and again from elements around, under conditions, in one or two loops."""
    rng = random.Random(seed)
    p = ProgramBuilder(f"update{seed}")
    a = p.placeholder("A", i16, (12,))
    t, i = p.loops(t=rng.randint(1, 4), i=range(4, 8))
    where = rng.choice([i, 11 - i])
    for n in range(rng.randint(1, 2)):
        target = a[where] if n == 0 or rng.random() < 0.5 else a[i]
        near = [a[where + rng.choice([-3, -1, 0, 1, 3])] for _ in range(2)]
        if rng.random() < 0.3:
            near[1] = a[where + rng.choice([-1, 1]) * t]
        p.compute(f"S{n}", (t, i), target, near[0] + 2 * near[1] - target)
    return p.build()


def test_random_updates() -> None:
    made = 0
    for seed in range(12):
        program = update(seed)
        for count in (0, 2):
            schedule = steps().versions("A", "S0.t", count).build()
            state = tried(build(program), *schedule)
            if state is None:
                continue
            made += 1
            assert same_values(program, state.scop.program), seed
            if seed % 4 == 0:
                assert equivalence(compile_design(program, schedule)).verdict == "proven"
    assert made >= 16


@weft.kernel
def nested_copies(c: i32[4], y: i32[4]):
    for i in range(4):
        y[i] = c[i]
    for r in range(2):
        for i in range(1, 4):
            c[i] += c[i - 1] + r
    for i in range(0):
        t: i32[2] = 0
        t[i] += 1
        y[i] = t[i]


def test_an_array_of_a_loop_has_versions_beside_statements_outside() -> None:
    schedule = ScheduleBuilder().buffer("c", "r").versions("c_buf", "S1.i").build()
    assert check_levels([Case(0, nested_copies.program, schedule)], cxx=False) == []


@weft.kernel
def looked_up(x: i16[6], at: u3[5], y: i16[5]):
    for t in range(2):
        for i in range(1, 4):
            x[i] += x[i - 1]
    for i in range(5):
        y[i] = x[min(at[i], 5)]


def test_what_is_looked_up_may_be_what_was_there_before() -> None:
    schedule = ScheduleBuilder().versions("x", "t").build()
    assert check_levels([Case(0, looked_up.program, schedule)], cxx=False) == []


@pytest.mark.parametrize("step", ["versions", "expand"])
def test_a_local_that_nothing_uses_is_said(step: str) -> None:
    asked = getattr(ScheduleBuilder().split("S1.i", 2), step)("t", "r").build()
    with pytest.raises(ScheduleError, match="no statement that runs uses 't'"):
        apply(nested_copies.program, asked)


@pytest.mark.parametrize(
    ("build_", "said"),
    [
        (lambda s: s.versions("A", "S0.t"), "reads A[-i + 7] both as"),
        (lambda s: s.versions("B", "S1.t"), "which element of 'B' is assigned is data"),
        (lambda s: s.versions("best", "S3.t"), "which element of 'best' S3 reads is data"),
        (lambda s: s.versions("x", "S2.t"), "'x' outlives the loops around"),
        (lambda s: s.versions("x", "S1.t"), "nothing in 'S1.t' assigns to 'x'"),
        (
            lambda s: s.partition("A", 0, "complete").versions("A", "S0.t"),
            "memories of 'A' already",
        ),
        (lambda s: s.split("S0.t", 2).versions("A", "t_0"), "'t_0' is"),
    ],
)
def test_what_has_no_versions_is_refused(
    build_: Callable[[ScheduleBuilder], ScheduleBuilder], said: str
) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(closed.program, build_(steps()).build())
    assert caught.value.code == "W239"
    assert said in caught.value.render()


def other_version(stmt: Stmt) -> Stmt:
    """The version before is read where the new one was."""
    return with_accesses(
        stmt,
        lambda a: (
            replace(a, indices=(a.indices[0] - 1, *a.indices[1:]))
            if len(a.indices) == 2 and "c - coin" in str(a)
            else a
        ),
    )


def nothing_copied(stmt: Stmt) -> Stmt:
    """What an iteration does not assign is that of version 0."""
    if stmt.name != "same_ways":
        return stmt
    first = with_accesses(stmt, lambda a: replace(a, indices=(a.indices[0] * 0, *a.indices[1:])))
    return replace(first, target=stmt.target)


@pytest.mark.parametrize("change", [other_version, nothing_copied])
def test_other_programs_are_refuted(change: Callable[[Stmt], Stmt]) -> None:
    right = rewritings(coins.program, steps().versions("ways", "coin").build())[-1]
    assert check_rewriting(right) is None
    body = tuple(map_statements(node, change) for node in right.after.body)
    found = check_rewriting(replace(right, after=replace(right.after, body=body)))
    assert found is not None
    assert found.code == "W339"
