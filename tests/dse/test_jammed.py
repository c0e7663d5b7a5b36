"""Blocks of a loop around loops whose bounds move with it: jammed inside of them, each copy under a guard."""

from __future__ import annotations

import random
from itertools import product as pairs

import pytest

import weft
from backends.equivalence import equivalence
from backends.verify import verify_many
from dse.space.nests.nest import NestLoop
from dse.space.space import Choice, Point, Space, space_of
from dsl.schedules.steps import Unroll
from mlir_passes.pipeline import compile_design
from qor_gnn.tools.personality import personality
from weft import f32, i32

TOOL = personality("vitis-2022.1-zu9eg-10ns")


@weft.kernel
def syrk(A: i32[12, 5], C: i32[12, 12]):
    for i in range(12):
        for j in range(i + 1):
            for k in range(5):
                C[i, j] += A[i, k] * A[j, k]


@weft.kernel
def widening(A: f32[10, 14], x: f32[14], y: f32[10]):
    for i in range(10):
        for j in range(i, min(2 * i + 3, 14)):
            y[i] += A[i, j] * x[j]


@weft.kernel
def upper(A: i32[9, 9], B: i32[9, 9]):
    for i in range(9):
        for j in range(i, 9):
            for k in range(i, j + 1):
                B[i, j] += A[i, k] * A[k, j]


@weft.kernel
def sorted_in(a: i32[10]):
    """Each pass needs what the one before made of the next element."""
    for i in range(9):
        for j in range(9 - i):
            a[j] = a[j] + a[j + 1]


def loops_of(space: Space) -> dict[str, NestLoop]:
    order = space.variants[0].nests[0].orders[0]
    return {loop.name: loop for loop in order.loops}


def points(space: Space, count: int, seed: int = 0) -> list[Point]:
    """Random points, every one with copies of a loop that jams."""
    found: list[Point] = []
    rng = random.Random(seed)
    while len(found) < count:
        v = rng.randrange(len(space.variants))
        picked, jams = [], False
        for nest in space.variants[v].nests:
            number = rng.randrange(len(nest.orders))
            loops = nest.orders[number].loops
            vector = tuple(rng.choice(loop.factors) for loop in loops)
            jams |= any(x.jams and u > 1 for x, u in zip(loops, vector, strict=True))
            picked.append(Choice(number, vector))
        if jams:
            found.append(Point(v, tuple(picked)))
    return found


@pytest.mark.parametrize("kernel", [syrk, widening, upper])
def test_a_loop_jams_where_inner_bounds_move_with_it(kernel):
    loops = loops_of(space_of(kernel.program, TOOL))
    assert loops["i"].jams
    assert loops["i"].unrolls
    assert len(loops["i"].factors) > 2
    assert not any(loop.jams for name, loop in loops.items() if name == "k" and kernel is syrk)


def test_a_loop_that_hands_on_does_not_jam():
    loops = loops_of(space_of(sorted_in.program, TOOL))
    assert not loops["i"].jams
    assert loops["i"].factors == (1,)


@pytest.mark.parametrize("kernel", [syrk, widening, upper])
def test_every_point_is_legal_and_means_the_same(kernel):
    space = space_of(kernel.program, TOOL)
    designs = []
    for point in points(space, 12):
        schedule = space.schedule(point)
        assert schedule is not None
        assert any(isinstance(s, Unroll) and s.tail == "guard" for s in schedule)
        designs.append(compile_design(kernel.program, schedule))
        assert equivalence(designs[-1]).verdict == "proven"
    assert all(result.ok for result in verify_many(designs))


def test_copies_of_a_triangle_are_worth_it():
    """Two rows at a time take little more than half the cycles of one."""
    space = space_of(syrk.program, TOOL)
    (nest,) = space.variants[0].nests
    cycles = {}
    for number, u in pairs(range(len(nest.orders)), (1, 4)):
        order = nest.orders[number]
        if [loop.name for loop in order.loops] != ["i", "j", "k"]:
            continue
        vector = tuple(
            u if loop.name == "i" else loop.extent if loop.name == "k" else 1
            for loop in order.loops
        )
        schedule = space.schedule(Point(0, (Choice(number, vector),)))
        assert schedule is not None
        cycles[u] = weft.estimate(syrk, schedule).latency.average
    assert cycles[4] < 0.6 * cycles[1]


def test_a_search_uses_them():
    run = weft.explore(syrk, trials=12, progress=False, evaluator="model")
    jammed = [
        d
        for d in run.designs
        if any(isinstance(s, Unroll) and s.tail == "guard" for s in d.schedule)
    ]
    assert jammed
    assert min(d.latency for d in jammed) < 0.3 * max(d.latency for d in run.designs)
