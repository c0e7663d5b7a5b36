"""One division by what a loop keeps: what the step makes of a program, that it is proven, what bounds know of it, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

import weft
from dse.space.loops.alignment import aligned
from dse.space.loops.reciprocals import reciprocals
from dsl.errors.errors import ScheduleError
from dsl.expressions.expr import Access, Binary, Const
from dsl.programs.program import Program, Stmt, map_statements
from dsl.schedules.recurrence_steps import Reciprocal
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Align
from polyhedral.equivalence.reciprocals import check_reciprocal
from polyhedral.schedule import apply
from polyhedral.scop.scheduled import build
from tests.polyhedral.show import nest
from tests.support.levels import Case, check_levels
from weft import f32, f64, fixed, i32

N = 5


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
def rows(x: f32[4, 6]):
    for n in range(4):
        total: f32 = 0.0
        for d in range(6):
            total += x[n, d] * x[n, d]
        for d in range(5, -1, -1):
            x[n, d] = x[n, d] / (weft.sqrt(total) + 1.0) - 1.0 / (weft.sqrt(total) + 1.0)


@weft.kernel
def columns(x: f32[6, 4], y: f64[6, 4]):
    total: f64[4]
    for c in range(4):
        total[c] = 0.5
    for r in range(6):
        for c in range(4):
            total[c] += x[r, c]
    for r in range(6):
        for c in range(1, 4):
            y[r, c] = x[r, c] / total[c]


@weft.kernel
def sweeps(d: f32[6], x: f32[6]):
    for _ in range(3):
        for i in range(5, 0, -1):
            x[i] = (x[i] + x[i - 1]) / d[i]


@weft.kernel
def others(x: f32[6], n: i32[6], at: i32[6], q: fixed[16, 8][6]):
    for i in range(6):
        x[i] = x[i] / x[3]  # it changes on the way
    for j in range(6):
        x[j] = x[j] / x[at[0] % 6]
        n[j] = n[j] // n[0]
        q[j] = q[j] / q[0]
    for k in range(6):
        x[k] = x[k] / (k + 1)
        n[k] = i32(x[k] / x[2])


CASES = [(cholesky, "S1", "i"), (rows, "S2", "S2.d"), (columns, "S2", "S2.r"), (sweeps, "S0", "_")]


def steps(stmt: str, loop: str) -> Schedule:
    return Schedule((Reciprocal(stmt, loop),))


def test_the_first_iteration_that_needs_it_divides() -> None:
    shown = nest(cholesky.program, ScheduleBuilder().reciprocal("S1", "i"))
    assert "if -i + j + 1 == 0\n      S1_inverse(i, i - 1)\n    S1(i, j)" in shown


def test_it_stands_in_front_where_it_is_known_there() -> None:
    for kernel, shape in ((rows, ()), (columns, (4,)), (sweeps, (6,))):
        (case,) = (c for c in CASES if c[0] is kernel)
        program = apply(kernel.program, steps(*case[1:])).scop.program
        (array,) = (a for a in program.locals if a.name.endswith("_inverse"))
        assert array.shape == shape
        (own,) = (s.name for s in program.statements() if s.target.array == array.name)
        assert own == f"{case[1]}_inverse"


def test_all_levels_agree() -> None:
    cases = [Case(n, k.program, steps(*of)) for n, (k, *of) in enumerate(CASES)]
    found = check_levels(cases, cxx=False)
    assert not found, found[0].report()


def test_the_search_finds_them() -> None:
    for kernel, stmt, _ in CASES:
        found = reciprocals(build(kernel.program), ())[1]
        assert [s.stmt for s in found if isinstance(s, Reciprocal)] == [stmt]
    assert reciprocals(build(others.program), ())[1] == ()


def test_divisors_are_known_in_front_of_products_where_their_step_is_outermost() -> None:
    state = apply(
        cholesky.program, ScheduleBuilder().unite("S0", "S2").reciprocal("S1", "i").build()
    )
    moved, (step,) = aligned(state, ())
    assert step == Align(("S3", "S1_inverse", "S1", "S0"), ("i", "j", "j", "k"), promote=True)
    (piece,) = moved.of_statement("S1_inverse")  # its loop i has one iteration
    assert piece.names == ("k",)


def test_bounds_take_the_cheaper_of_both() -> None:
    plain, product = (
        weft.space(kernel, device="xc7z020", reassociate=free)
        for kernel, free in ((sweeps, False), (sweeps, True))
    )
    slow, quick = (max(b.cycles for b in s.bounds) for s in (plain, product))
    assert quick < slow


def test_other_programs_are_refuted() -> None:
    before = cholesky.program
    after = apply(before, steps("S1", "i")).scop.program
    assert check_reciprocal(before, after, "S1") is None
    assert check_reciprocal(before, _changed(after, _of_one), "S1") is not None
    assert check_reciprocal(before, _changed(after, _of_two), "S1") is not None
    last = before.statements()[-1]
    free = map_statements(
        after.body[0], lambda s: replace(s, value=last.value) if s.name == "S2" else s
    )
    assert check_reciprocal(before, replace(after, body=(free,)), "S1") is not None


def _changed(program: Program, value: object) -> Program:
    """The program with another statement that divides."""
    assert callable(value)
    body = tuple(
        map_statements(n, lambda s: value(s) if s.name == "S1_inverse" else s) for n in program.body
    )
    return replace(program, body=body)


def _of_one(stmt: Stmt) -> Stmt:
    """The same element for all iterations."""
    read = stmt.value
    assert isinstance(read, Binary)
    first = Access("A", (stmt.target.indices[0] * 0, stmt.target.indices[0] * 0))
    return replace(stmt, value=replace(read, rhs=replace(read.rhs, access=first)))


def _of_two(stmt: Stmt) -> Stmt:
    assert isinstance(stmt.value, Binary)
    return replace(stmt, value=replace(stmt.value, lhs=Const(2.0, f32)))


@pytest.mark.parametrize(
    ("stmt", "loop", "text"),
    [
        ("S0", "i", "S0 divides by another x[3] than S0_inverse"),
        ("S1", "j", "S1 divides no float by what is computed"),
        ("S2", "j", "S2 divides no float by what is computed"),
        ("S3", "j", "S3 divides no float by what is computed"),
        ("S4", "k", "S4 divides no float by what is computed"),
        ("S5", "k", "S5 divides no float by what is computed"),
        ("S4", "i", "S4 does not run in 'i'"),
    ],
)
def test_refusals(stmt: str, loop: str, text: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        apply(others.program, steps(stmt, loop))
    assert caught.value.code == "W249"
    assert text in caught.value.render()
