"""Imperfect nests with short loops inside: the loop around is pipelined, those inside are unrolled."""

from __future__ import annotations

import random

import pytest

import weft
from backends.equivalence import equivalence
from dse.space.nests.groups import groups, volumes
from dse.space.space import Choice, Point, Space, space_of
from dse.strategies.ladder import ladder
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Unroll
from polyhedral.schedule import apply
from qor_gnn.tools.personality import personality
from tests.support.random_programs import random_program
from weft import f32, i16

TOOL = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def product(A: f32[8, 8], B: f32[8, 8], C: f32[8, 8]):
    for i in range(8):
        for j in range(8):
            t: f32 = 0.0
            for k in range(8):
                t += A[i, k] * B[k, j]
            C[i, j] = t


@weft.kernel
def pooled(X: i16[16, 16], Y: i16[8, 8]):
    for i in range(8):
        for j in range(8):
            m: i16 = X[2 * i, 2 * j]
            for di in range(2):
                for dj in range(2):
                    m = max(m, X[2 * i + di, 2 * j + dj])
            Y[i, j] = m


@weft.kernel
def filtered(x: f32[64], h: f32[8], y: f32[64]):
    for n in range(64):
        acc: f32 = 0.0
        for k in range(8):
            if n - k >= 0:
                acc += h[k] * x[n - k]
        y[n] = acc


@weft.kernel
def solved(L: f32[8, 8], b: f32[8], x: f32[8]):
    for i in range(8):
        s: f32 = b[i]
        for j in range(i):
            s = s - L[i, j] * x[j]
        x[i] = s / L[i, i]


@weft.kernel
def paths(T: f32[8, 8], V: f32[33, 8]):
    for t in range(32):
        for s in range(8):
            best: f32 = V[t, 0] + T[0, s]
            for p in range(1, 8):
                best = max(best, V[t, p] + T[p, s])
            V[t + 1, s] = best


KERNELS = (product, pooled, filtered, solved, paths)


def proven(kernel: weft.Kernel, schedule: Schedule) -> bool:
    return equivalence(weft.compile(kernel, schedule)).verdict == "proven"


def of(kernel: weft.Kernel) -> Space:
    return space_of(kernel.program, TOOL)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_there_is_a_nest_of_all_statements_whose_inner_loops_are_unrolled(kernel):
    space = of(kernel)
    whole = [v for v in space.variants if any(o.inside > 1 for n in v.nests for o in n.orders)]
    assert whole
    nests = [max(v.nests, key=lambda n: len(n.statements)) for v in whole]
    assert any(len(nest.statements) == 3 for nest in nests)
    for nest in nests:
        assert [loop.inner for loop in nest.orders[0].loops].count(False) <= 2


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_points_are_legal_and_right(kernel):
    """Some of each order, which the proof of level 3 holds against the program."""
    space = of(kernel)
    rng = random.Random(1)
    tried = 0
    for number, variant in enumerate(space.variants):
        if all(o.inside == 1 for n in variant.nests for o in n.orders):
            continue
        for nest_orders in range(max(len(n.orders) for n in variant.nests)):
            choices = []
            for nest in variant.nests:
                order = nest_orders % len(nest.orders)
                rungs = ladder(nest, order, 400)[:40]
                plain = Choice(order, nest.orders[order].plain)
                choices.append(rng.choice(rungs).choice if rungs else plain)
            schedule = space.schedule(Point(number, tuple(choices)))
            if schedule is not None:
                assert proven(kernel, schedule), schedule
                tried += 1
    assert tried


@pytest.mark.parametrize(
    ("kernel", "most"),
    [(product, 60), (pooled, 30), (filtered, 60), (solved, 300), (paths, 1300)],
    ids=lambda x: x.name if isinstance(x, weft.Kernel) else "",
)
def test_what_is_found_is_what_an_engineer_would_write(kernel, most, tmp_path):
    run = weft.explore(kernel, device="xczu9eg", evaluator="model", trials=4, out=tmp_path / "run")
    assert run.best().latency <= most


def test_unrolling_a_loop_of_varying_bounds_needs_a_guard():
    with pytest.raises(ScheduleError) as caught:
        apply(solved.program, Schedule((Unroll("j"), Pipeline("i"))))
    assert caught.value.code == "W212"
    guarded = Schedule((Unroll("j", tail="guard"), Pipeline("i")))
    assert proven(solved, guarded)
    assert weft.verify(solved, guarded).ok
    assert "if (i > j)" in weft.compile(solved, guarded).hls_cpp


def test_every_statement_is_in_one_group_whatever_is_unrolled():
    seen = 0
    for seed in range(80):
        state = apply(random_program(seed), Schedule())
        for most in (0, *volumes(state)):
            found = groups(state, most)
            assert sorted(id(p) for g in found for p in g.pieces) == sorted(map(id, state.pieces))
            seen += sum(any(len(p.dims) > g.end for p in g.pieces) for g in found)
    assert seen > 10
