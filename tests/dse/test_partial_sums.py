"""Sums that wait for themselves in every order: partial sums, and copies that share units."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from pathlib import Path

import weft
from backends.devices import device
from backends.verify import verify
from dse.bounds.bounds import MAX_BANKS
from dse.evaluators.base import Limits, Request, Result, Status, judged
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.run.folder.codec import point_from_json, point_to_json
from dse.space.costs.cost import cost, uneven
from dse.space.memory.banks import interval_with
from dse.space.memory.partitions import solved as solved_banks
from dse.space.space import Point, Space, space_of
from dse.strategies.auto import solved
from dse.strategies.ladder import SHARING, ladder
from dse.strategies.sampled import has_point
from dse.strategies.search import evaluated
from dse.strategies.solve import solve
from dsl.kernels.loader import load_kernels
from dsl.schedules.steps import PartialSums
from weft import f32, i16, i32

BOARD, CLOCK = device("xcu280"), 3.33
TOOL = personality_for(BOARD, CLOCK)
OTHER = device("xczu9eg")
CHAINS = personality_for(OTHER, 10.0)  # makes no trees of sums
EXAMPLES = Path(__file__).resolve().parents[2] / "examples/polybench"
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


def test_a_dot_product_is_spread_and_gets_faster():
    free = space_of(dot.program, TOOL, reassociate=True)
    assert spreads(free) == [("S1.i", 8, 128), ("S1.i", 64, 16), ("S1_sum.part", 8, 1)]
    assert spreads(space_of(dot.program, TOOL)) == []  # nobody allowed another order
    space = space_of(dot.program, CHAINS, reassociate=True)
    assert spreads(space)
    found = {True: float("inf"), False: float("inf")}
    for number in range(len(space.variants)):
        for solution in solve(space, number, 30)[:1]:
            schedule = space.schedule(solution.point)
            assert schedule is not None
            result = ModelEvaluator().evaluate(Request(dot.program, schedule, OTHER, 10.0))
            assert result.latency is not None
            spread = any(isinstance(s, PartialSums) for s in schedule)
            found[spread] = min(found[spread], result.latency)
    assert found[True] < 0.4 * found[False]


@weft.kernel
def extremes(x: i16[1024], out: i16[2]):
    low: i16 = 32767
    high: i16 = -32768
    for i in range(1024):
        low = min(low, x[i])
        high = max(high, x[i])
    out[0] = low
    out[1] = high


def test_where_terms_make_no_tree_there_are_as_many_accumulators_as_terms():
    # In stages of eight, each term of an iteration in an accumulator of its own.
    found = spreads(space_of(dot.program, CHAINS, reassociate=True))
    assert {("S1.i", 64, 1), ("S1_sum.part", 8, 1), ("S1.i", 512, 1)} <= set(found)
    assert ("S1.i", 64, 1) not in spreads(space_of(dot.program, TOOL, reassociate=True))
    # A minimum makes no tree for any tool, not of integers either.
    for tool in (TOOL, CHAINS):
        assert ("S2.i", 64, 1) in spreads(space_of(extremes.program, tool, reassociate=True))


@weft.kernel
def brightness(x: f32[6, 62], out: f32[1]):
    total: f32 = 0.0
    for i in range(6):
        for j in range(62):
            root = weft.sqrt(x[i, j])
            total += root
    out[0] = total


def test_a_prime_number_of_accumulators_makes_no_stages():
    found = spreads(space_of(brightness.program, CHAINS, reassociate=True))
    assert ("S1.j", 31, 2) in found
    assert not any("sum" in loop for loop, _, _ in found)


def test_several_sums_of_one_pass_are_one_pipeline_too():
    space = space_of(extremes.program, CHAINS, reassociate=True)
    merged = [v for v in space.variants if v.name == "64, 64 partial sums, merged"]
    assert any({"S2", "S3"} <= set(nest.statements) for v in merged for nest in v.nests)
    best: dict[bool, float] = {}
    for number, variant in enumerate(space.variants):
        for solution in solve(space, number, 100)[:1]:
            schedule = space.schedule(solution.point)
            assert schedule is not None
            assert verify(extremes.program, schedule, cxx=False).ok
            result = ModelEvaluator().evaluate(Request(extremes.program, schedule, OTHER, 10.0))
            assert result.latency is not None
            many = any(count in variant.name for count in ("64", "128", "512"))
            best[many] = min(result.latency, best.get(many, float("inf")))
    assert best[True] < 0.6 * best[False]


def test_designs_with_partial_sums_compute_the_same():
    program = dot.at("mini").program
    space = space_of(program, TOOL, reassociate=True)
    point = next(
        t.point
        for t in evaluated(
            solved(space, 30, Limits({"dsp": 30}), 1, {}), lambda p: Result(Status.OK)
        )
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


def test_copies_share_units_while_their_sums_wait():
    kernel = load_kernels(EXAMPLES / "bicg.py")["bicg"].at("mini").program
    space = space_of(kernel, TOOL, reassociate=True)
    limits = Limits({"dsp": 150})
    results: list[tuple[Point, Result]] = []

    def evaluate(point: Point) -> Result:
        schedule = space.schedule(point)
        assert schedule is not None
        found = ModelEvaluator().evaluate(Request(kernel, schedule, BOARD, CLOCK))
        results.append((point, judged(found, limits)))
        return results[-1][1]

    for number in range(len(space.variants)):
        for solution in solve(space, number, 150)[:1]:
            evaluate(solution.point)
    fits = [(r.latency, p) for p, r in results if r.status is Status.OK and r.latency]
    latency, point = min(fits, key=lambda fit: fit[0])
    choice = point.choices[-1]
    copies = prod(choice.vector)
    assert choice.ii > 4
    assert copies > 3 * 150 / 6  # units of a multiplication and a sum of logic for each
    assert latency < 0.95 * min(one for one, p in fits if all(c.ii == 1 for c in p.choices))
    assert point_from_json(point_to_json(point)) == point


def test_no_more_cycles_are_asked_for_than_a_study_can_suggest():
    kernel = load_kernels(EXAMPLES / "bicg.py")["bicg"].at("medium").program
    space = space_of(kernel, TOOL, reassociate=True)
    for budget in (1, 3, 7):
        rungs = [
            rung
            for variant in space.variants
            for nest in variant.nests
            for number in range(len(nest.orders))
            for rung in ladder(nest, number, budget)
        ]
        assert max(rung.asked for rung in rungs) <= SHARING
    point = space.plain()
    far = replace(point, choices=(replace(point.choices[0], ii=SHARING + 1), *point.choices[1:]))
    assert has_point(space, point)
    assert not has_point(space, far)


def test_banks_have_the_cycles_of_the_interval_asked_for():
    kernel = load_kernels(EXAMPLES / "bicg.py")["bicg"].at("medium").program
    space = space_of(kernel, TOOL, reassociate=True)
    nest = next(v for v in space.variants if v.name == "merged").nests[-1]
    part = (nest.orders[0], (82, 39))
    assert solved_banks(kernel, [part]) is None  # 3,198 of them
    found = solved_banks(kernel, [part], [32])
    assert found is not None
    factors = {s.dim: s.factor for s in found if s.array == "A"}
    assert prod(factors.values()) <= MAX_BANKS
    assert 1 < interval_with(*part, "A", factors) <= 32


def test_a_free_order_shares_where_copies_wait_anyway_or_divide_the_loop():
    kernel = load_kernels(EXAMPLES / "gemm.py")["gemm"].at("mini").program
    for variant in space_of(kernel, TOOL, reassociate=True).variants:
        for nest in variant.nests:
            for number, order in enumerate(nest.orders):
                rungs = ladder(nest, number, 220) if order.inside == 1 else ()
                alone = [r.cost.cycles for r in rungs if r.asked == 1 and r.cost.dsp <= 220]
                for rung in rungs:
                    if rung.asked > 1 and cost(nest, order, rung.vector).interval == 1:
                        assert not uneven(order, rung.vector)
                        assert rung.cost.cycles < min(alone)
