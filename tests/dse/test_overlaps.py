"""Loops whose iterations overlap: found by the search, proven, and the same in every form of the design."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import weft
from dse.ranking.composed import Composed
from dse.space.costs.at_once import Overlap, overlapped_cycles
from dse.space.loops.overlaps import overlapped
from dse.space.space import space_of
from dse.space.start import Start
from dse.strategies.estimates import Estimates
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer, Dataflow, Interface, Pack, Tile
from polyhedral.legality.loop_regions import loop_regions
from polyhedral.schedule import apply, begun
from qor_gnn.tools.personality import personality
from tests.support.levels import Case, check_levels
from tests.support.random_programs import random_program
from tests.support.random_schedules import EVERY, random_step
from weft import f32, i32

U280 = personality("vitis-2023.2-u280-3.33ns")
OPEN = personality("open-ecp5-10ns")


@weft.kernel
def scale(A: f32[64, 32], B: f32[64, 32]):
    for i in range(64):
        for j in range(32):
            B[i, j] = 2.0 * A[i, j] + 1.0


@weft.kernel
def gemm(A: i32[24, 20], B: i32[20, 16], C: i32[24, 16]):
    for i in range(24):
        for j in range(16):
            for k in range(20):
                C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def stencil(A: i32[30, 32], B: i32[30, 32]):
    for i in range(1, 29):
        for j in range(32):
            B[i, j] = A[i - 1, j] + A[i, j] + A[i + 1, j]


@weft.kernel
def normalised(A: i32[12, 16], B: i32[12, 16]):
    for i in range(12):
        total: i32 = 0
        row: i32[16]
        for j in range(16):
            row[j] = A[i, j] * 3
        for j in range(16):
            total += row[j]
        for j in range(16):
            B[i, j] = total - A[i, j]


def outside(*arrays, lanes=0):
    ports = [Interface(a, "m_axi", a) for a in arrays]
    return (*ports, *(Pack(a, 32 * lanes) for a in arrays if lanes))


def tiled_start(loops, sizes, reads, writes, lanes=0):
    """Tiles of arrays outside, those that are written copied at the loop outside of the innermost."""
    steps = [*outside(*reads, *writes, lanes=lanes), Tile(loops, sizes, tail="guard")]
    inner = f"{loops[-1]}_0"
    outer = f"{loops[-2]}_0" if len(loops) > 1 else inner
    steps += [Buffer(a, outer) for a in writes] + [Buffer(a, inner) for a in reads]
    return tuple(steps)


STARTS = [
    (scale, tiled_start(("i",), (8,), ("A",), ("B",)), 1),
    (scale, tiled_start(("i",), (6,), ("A",), ("B",), 4), 1),
    (gemm, tiled_start(("i", "j", "k"), (8, 8, 5), ("A", "B"), ("C",)), 1),
    (gemm, tiled_start(("i", "j", "k"), (8, 8, 8), ("A", "B"), ("C",), 4), 1),
    (stencil, tiled_start(("i",), (7,), ("A",), ("B",), 2), 1),
    (normalised, (), 1),
]


@pytest.mark.parametrize(("kernel", "steps", "count"), STARTS)
def test_the_search_offers_the_structure_twice(kernel, steps, count):
    space = space_of(kernel.program, U280, start=Start(steps))
    twins = [v for v in space.variants if v.name.endswith("iterations overlapped")]
    assert twins
    for variant in twins:
        assert sum(isinstance(s, Dataflow) for s in variant.steps) == count
        assert list(loop_regions(apply(kernel.program, Schedule(variant.steps))))
    assert not any(
        "overlapped" in v.name for v in space_of(kernel.program, OPEN, start=Start(steps)).variants
    )


@pytest.mark.parametrize(("kernel", "steps", "count"), STARTS)
def test_what_ranking_makes_of_them_is_near_the_model(kernel, steps, count):
    space = space_of(kernel.program, U280, start=Start(steps))
    number = next(n for n, v in enumerate(space.variants) if "overlapped" in v.name)
    point = space.plain(number)
    schedule = space.schedule(point)
    assert schedule is not None
    figures = Estimates(space).figures(point)
    exact = weft.estimate(kernel, schedule, device="xcu280", tool="vitis-2023.2")
    assert figures.cycles == pytest.approx(exact.latency.average, rel=0.005)


def test_loops_around_overlap_too_where_they_copy_something():
    """A tile of C that is copied apart, around those of A and B: a structure more, as long as the model says."""
    ports = [replace(s, reads="C") if s.argument == "C" else s for s in outside(*"ABC")]
    steps = (
        *ports,
        Tile(("i", "k"), (6, 5), tail="guard"),
        Buffer("C", "i_0", apart=True),
        Buffer("A", "k_0"),
        Buffer("B", "k_0"),
    )
    space = space_of(gemm.program, U280, start=Start(steps))
    names = [v.name for v in space.variants if "overlapped" in v.name]
    assert any(name.endswith("overlapped") for name in names)
    number = next(
        n for n, v in enumerate(space.variants) if v.name.endswith("overlapped at each level")
    )
    variant, point = space.variants[number], space.plain(number)
    assert len(variant.overlaps) == 2
    schedule = space.schedule(point)
    assert schedule is not None
    choices = [(c.order, c.vector, c.ii) for c in point.choices]
    figures = Composed(variant, gemm.program, U280).figures(choices, {})
    assert figures is not None
    exact = weft.estimate(gemm, schedule, device="xcu280", tool="vitis-2023.2")
    assert figures[0] == pytest.approx(exact.latency.average, rel=0.005)


def test_a_loop_that_overlaps_may_be_of_a_process_of_another_one():
    """Ten tiles, in each of them five smaller ones: 50 and 300 become 300 and an iteration."""
    groups, cycles = ((0,), (1,), (2,), (3,)), (100, 50, 300, 200)
    inner = Overlap(((1,), (2,)), runs=50, entered=10)
    outer = Overlap(((0,), (1, 2), (3,)), runs=10, entered=1)
    within = 300 + 50 / 5
    assert overlapped_cycles(groups, cycles, (inner,)) == pytest.approx(300 + within)
    for both in ((inner, outer), (outer, inner)):
        assert overlapped_cycles(groups, cycles, both) == pytest.approx(within + 300 / 10)


def test_iterations_that_overlap_take_as_long_as_their_longest_process():
    """In ten iterations two arrays are copied in at the same time, worked on in two nests, and copied out."""
    groups, cycles = ((0,), (1, 2), (3,), (4,), (5,)), (100, 500, 300, 600, 200, 400)
    loop = Overlap(((1,), (2,), (3, 4), (5,)), runs=10, entered=1)
    assert overlapped_cycles(groups, cycles, ()) == 1800
    assert overlapped_cycles(groups, cycles, (loop,)) == pytest.approx(100 + 800 + 900 / 10)
    once = replace(loop, entered=10)
    assert overlapped_cycles(groups, cycles, (once,)) == 1800


def test_random_programs_with_overlapped_loops_mean_the_same():
    """Copies at random loops, random steps, then regions wherever there can be any."""
    cases, regions = [], 0
    for seed in range(70):
        rng = random.Random(seed)
        program = random_program(seed)
        schedule = Schedule()
        state = apply(program, schedule)
        for _ in range(6):
            loops = [n for n in state.loop_names() if "." not in n] or list(state.loop_names())
            arrays = [a.name for a in program.arguments if a.shape]
            chosen = random_step(rng, state, EVERY)
            if loops and arrays and rng.random() < 0.6:
                chosen = Buffer(rng.choice(arrays), rng.choice(loops))
            try:
                state = begun(program, schedule.then(chosen))
            except ScheduleError:
                continue
            schedule = schedule.then(chosen)
        at, steps = overlapped(state)
        if not steps:
            continue
        schedule = schedule.then(*steps)
        try:
            apply(program, schedule)
        except ScheduleError:
            continue
        regions += len(list(loop_regions(at)))
        cases.append(Case(seed, program, schedule))
        if len(cases) == 12:
            break
    assert len(cases) > 10
    assert regions > 10
    failures = check_levels(cases, jit=False)
    assert not failures, failures[0].report()
