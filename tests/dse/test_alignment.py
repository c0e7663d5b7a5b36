"""Another loop outermost for all statements of a nest, and rows kept in registers inside of it."""

from __future__ import annotations

import random

import pytest

import weft
from backends.devices import device
from benchmarks.corpus.kernels.factorisations import cholesky_by_column
from dse.evaluators.model import personality_for
from dse.space.loops.alignment import aligned, turned
from dse.space.memory.kept import rows_kept
from dse.space.space import Choice, Point, space_of
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Align, Buffer, Reorder
from polyhedral.banks.wanted import common
from polyhedral.schedule import apply
from weft import f32

N = 24


@weft.kernel
def by_rows(A: f32[N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] = A[i, j] / A[j, j]
        for j in range(i, N):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


@weft.kernel
def right_looking(A: f32[N, N]):
    for k in range(N):
        for i in range(k + 1, N):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]


@weft.kernel
def solved(L: f32[N, N], b: f32[N], x: f32[N]):
    for i in range(N):
        total: f32 = b[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]


@weft.kernel
def product(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for i in range(N):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(N):
                C[i, j] += A[i, k] * B[k, j]


def fastest(kernel: Kernel) -> float:
    run = weft.explore(
        kernel, device="xc7z020", reassociate=True, trials=8, evaluator="model", progress=False
    )
    return run.best().latency


def test_a_factorisation_by_rows_is_nearly_as_fast_as_one_by_steps() -> None:
    assert fastest(by_rows) < 2 * fastest(right_looking)


def test_the_step_of_elimination_becomes_the_outermost_loop() -> None:
    state, (step,) = aligned(apply(by_rows.program, Schedule()), ())
    assert step == Align(("S1", "S0", "S2"), ("j", "k", "k"), promote=True)
    _, turns = turned(state, ())
    assert turns == (Reorder(("S0.j", "S0.i")), Reorder(("S2.j", "S2.i")))


def test_a_solver_is_aligned_where_its_sum_is_expanded() -> None:
    space = space_of(solved.program, personality_for(device("xc7z020"), 10.0))
    steps = [step for v in space.variants for step in v.steps if isinstance(step, Align)]
    assert set(steps) == {Align(("S2", "S1"), ("i", "j"), promote=True)}


def test_schedules_of_random_designs_are_applied_again_as_they_were_saved() -> None:
    space = space_of(solved.program, personality_for(device("xc7z020"), 10.0), reassociate=True)
    draw = random.Random(5)
    for number, variant in enumerate(space.variants):
        drawn = [(n, draw.randrange(len(n.orders))) for n in variant.nests]
        point = Point(number, tuple(Choice(k, nest.orders[k].plain) for nest, k in drawn))
        schedule = space.schedule(point)
        assert schedule is not None
        again = Schedule.from_json(schedule.to_json())
        assert again == schedule
        weft.compile(solved, again)


@pytest.mark.parametrize("kernel", [product, right_looking], ids=lambda k: k.name)
def test_what_does_not_wait_is_left_as_it_is(kernel: Kernel) -> None:
    space = space_of(kernel.program, personality_for(device("xc7z020"), 10.0), reassociate=True)
    assert not any(isinstance(step, Align) for v in space.variants for step in v.steps)


def test_a_row_that_is_read_in_each_iteration_is_kept() -> None:
    copies = rows_kept(apply(cholesky_by_column.program, Schedule()))[1]
    assert copies == (Buffer("A", "S2.k", "", "A[i, k]"),)


def test_no_row_is_kept_of_what_is_not_updated_in_place() -> None:
    assert rows_kept(apply(product.program, Schedule()))[1] == ()


@pytest.mark.parametrize(
    ("one", "other", "extent", "found"),
    [(4, 6, 64, 12), (38, 39, 40, 40), (5, 7, 16, 16), (7, 39, 40, 273), (20, 40, 40, 40)],
)
def test_factors_of_nearly_all_elements_are_served_by_a_bank_each(
    one: int, other: int, extent: int, found: int
) -> None:
    assert common(one, other, extent) == found
