"""Two statements in neighbouring ranges of a loop as one: what the step makes of a program, that it is the program, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

import weft
from dse.space.loops.united import united
from dsl.errors.errors import ScheduleError
from dsl.programs.program import If, Loop, Program
from dsl.schedules.range_steps import Unite
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from polyhedral.equivalence.uniting import check_uniting
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import build
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from weft import f32, i32

N = 6


@weft.kernel
def lu(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for c in range(i, N):
            for r in range(i):
                A[i, c] -= A[i, r] * A[r, c]


@weft.kernel
def cholesky(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = weft.sqrt(A[i, i])


@weft.kernel
def scalars(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            w: f32 = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, N):
            v: f32 = A[i, j]
            for k in range(i):
                v -= A[i, k] * A[k, j]
            A[i, j] = v


@weft.kernel
def halves(x: i32[12], y: i32[12], z: i32[12]):
    for a in range(5):
        z[a] = x[a] + 1
        y[a] = x[a] * 3
    for b in range(5, 12):
        y[b] = x[b] * 3
        z[b] = y[b] - 1


@weft.kernel
def others(x: i32[12], y: i32[12], n: i32[12]):
    for a in range(5):
        y[a] = x[a] * 3
    for b in range(5, 12):
        y[b] = x[b] * 4
    for c in range(3):
        n[c] = x[c]
    for d in range(4, 12):
        n[d] = x[d]
    for e in range(6):
        for f in range(e):
            y[e] += x[f]
    for g in range(6, 12):
        for h in range(3, 5):
            y[g] += x[h]
    for p in range(2):
        if x[p] > 0:
            n[p] = 0
        y[p] = 0
    for q in range(2, 4):
        for r in range(1):
            y[q] = 0


def steps(one: str, other: str) -> Schedule:
    return Schedule((Unite(one, other),))


def test_one_loop_runs_over_both_ranges() -> None:
    shown = nest(lu.program, ScheduleBuilder().unite("S0", "S2"))
    assert shown == (
        "i: 1 .. 6\n  j: 0 .. 6\n"
        "    k: 0 .. min(i, j)\n      S0(i, j, k)\n"
        "    if i - j - 1 >= 0\n      S1(i, j)"
    )


CASES = [(lu, "S0", "S2"), (cholesky, "S2", "S0"), (scalars, "S1", "S4"), (halves, "S1", "S2")]


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, steps(*pair)) for n, (k, *pair) in enumerate(CASES)]
    found = check_levels(cases, cxx=False)
    assert not found, found[0].report()


def test_what_is_alike_around_them_becomes_one_too() -> None:
    after = apply(scalars.program, steps("S1", "S4")).scop.program
    assert [a.name for a in after.locals] == ["w"]
    assert [s.name for s in after.statements()] == ["S0", "S1", "S2", "S5"]


def test_the_search_finds_them() -> None:
    for kernel, *pair in CASES:
        assert united(build(kernel.program), ())[1] == (Unite(*sorted(pair)),)
    assert united(build(others.program), ())[1] == ()


def test_other_programs_are_refuted() -> None:
    after = apply(lu.program, steps("S0", "S2")).scop.program
    assert check_uniting(lu.program, after, "S0", "S2") is None
    (outer,) = after.body
    assert isinstance(outer, Loop)
    (inner,) = outer.body
    assert isinstance(inner, Loop)
    swapped = replace(inner, body=inner.body[::-1])  # divided before it is added up
    assert check_uniting(lu.program, _with(after, outer, swapped), "S0", "S2") is not None
    always = [n.then[0] if isinstance(n, If) else n for n in inner.body]
    more = replace(inner, body=tuple(always))
    assert check_uniting(lu.program, _with(after, outer, more), "S0", "S2") is not None


def _with(program: Program, outer: Loop, inner: Loop) -> Program:
    return replace(program, body=(replace(outer, body=(inner,)),))


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ("S0", "S1", "S1 does something else than S0"),
        ("S2", "S3", "S3 does not go on where the loop of S2 ends"),
        ("S4", "S5", "no loops have the iterations of S4 and S5 alone"),
        ("S0", "S5", "S5 does not follow S0 in the next loop"),
        ("S7", "S8", "S8 is in more or fewer loops than S7"),
        ("S0", "S0", "S0 is one statement already"),
    ],
)
def test_refusals(one: str, other: str, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(others.program, steps(one, other))
    assert caught.value.code == "W253"
    assert text in caught.value.render()
