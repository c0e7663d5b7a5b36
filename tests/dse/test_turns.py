"""Sums that wait for themselves in every order are explored in partial sums too."""

from __future__ import annotations

import weft
from backends.devices import device
from backends.verify import verify
from dse.evaluators.base import Limits, Request, Result, Status, judged
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.space import Space, space_of
from dse.strategies.auto import solved
from dsl.program import Program
from dsl.steps import PartialSums
from weft import f32, i32

BOARD, CLOCK = device("xcu280"), 3.33
TOOL = personality_for(BOARD, CLOCK)
N = 1024


@weft.kernel(sizes={"mini": {"N": 64}})
def dot(a: f32[N], b: f32[N], y: f32[1]):
    y[0] = 0.0
    for i in range(N):
        y[0] += a[i] * b[i]


@weft.kernel
def grid_sum(A: i32[6, 40], y: i32[1]):
    for i in range(6):
        for j in range(40):
            y[0] += A[i, j]


@weft.kernel
def prime(a: f32[127], y: f32[1]):
    for i in range(127):
        y[0] += a[i]


@weft.kernel
def rows(A: f32[32, 64], x: f32[64], y: f32[32]):
    for i in range(32):
        for j in range(64):
            y[i] += A[i, j] * x[j]


def spreads(space: Space) -> list[tuple[str, int, int]]:
    """Loop, accumulators and block of each step that spreads a sum."""
    steps = [s for v in space.variants for s in v.steps if isinstance(s, PartialSums)]
    return list(dict.fromkeys((s.loop, s.count, s.block) for s in steps))


def fastest(program: Program, space: Space, budget: int, spread: bool) -> tuple[float, Result]:
    """The least cycles of the variants with or without partial sums."""
    limits = Limits({"dsp": budget})
    best = float("inf")

    def evaluate(point: object) -> Result:
        nonlocal best
        schedule = space.schedule(point)  # type: ignore[arg-type]
        assert schedule is not None
        found = judged(ModelEvaluator().evaluate(Request(program, schedule, BOARD, CLOCK)), limits)
        has = any(isinstance(s, PartialSums) for s in schedule)
        if found.status is Status.OK and found.latency is not None and has == spread:
            best = min(best, found.latency)
        return found

    trials = list(solved(space, budget, limits, 1, evaluate, {}))
    return best, trials[-1].result


def test_a_dot_product_is_spread_and_gets_faster():
    space = space_of(dot.program, TOOL, reassociate=True)
    assert spreads(space) == [("S1.i", 8, 128), ("S1.i", 64, 16)]
    strict = space_of(dot.program, TOOL)
    assert spreads(strict) == []  # nobody allowed another order
    with_, _ = fastest(dot.program, space, 50, spread=True)
    without, _ = fastest(dot.program, space, 50, spread=False)
    plain, _ = fastest(dot.program, strict, 50, spread=False)
    assert with_ < 0.2 * min(without, plain)


def test_designs_with_partial_sums_compute_the_same():
    program = dot.at("mini").program
    space = space_of(program, TOOL, reassociate=True)
    point = next(
        t.point
        for t in solved(space, 30, Limits({"dsp": 30}), 1, lambda p: Result(Status.OK), {})
        if "partial sums" in space.variants[t.point.variant].name
    )
    schedule = space.schedule(point)
    assert schedule is not None
    assert any(s.kind == "partition" and s.array == "y_part" for s in schedule)  # type: ignore[union-attr]
    assert verify(program, schedule, cxx=False).ok


def test_integers_are_spread_along_the_outermost_loop_that_divides():
    found = spreads(space_of(grid_sum.program, TOOL, reassociate=True))
    assert found
    assert {loop for loop, _, _ in found} <= {"S0.i", "S0.j"}


def test_where_another_order_helps_or_nothing_divides_sums_stay_whole():
    assert spreads(space_of(rows.program, TOOL, reassociate=True)) == []
    assert spreads(space_of(prime.program, TOOL, reassociate=True)) == []
