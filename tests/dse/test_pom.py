"""POM's two stages: free innermost loops, then parallelism within the budget."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

import weft
from backends.devices import device
from backends.verify import verify
from dse.bounds.bounds import bounds, work_of
from dse.evaluators.base import Limits, Request, Result, Status, device_limits, judged
from dse.evaluators.model import ModelEvaluator, personality_for
from dse.space.space import Point, Space, space_of
from dse.strategies.auto import solved
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import FabricBudget
from dse.strategies.pom import pom, stage1
from dse.strategies.search import Evaluated, evaluated
from dse.strategies.solve import solve
from dse.strategies.spend import less
from dsl.kernels.loader import load_kernels
from dsl.programs.program import Program
from dsl.schedules.steps import Skew
from weft import f32

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BOARD, CLOCK = device("xczu9eg"), 10.0
TOOL = personality_for(BOARD, CLOCK)


@weft.kernel
def primes(A: f32[11, 13], B: f32[13, 23], C: f32[11, 23]):
    for i, j, k in weft.grid(11, 23, 13):  # no row is of two powers of two: addresses are products
        C[i, j] += A[i, k] * B[k, j]


def example(name: str, size: str | None) -> Program:
    kernel = load_kernels(EXAMPLES / f"polybench/{name}.py")[name]
    return (kernel.at(size) if size else kernel).program


def explored(program: Program, budget: int) -> tuple[Space, list[Evaluated]]:
    space = space_of(program, TOOL)
    limits = device_limits(BOARD, dsp=budget)

    def evaluate(point: Point) -> Result:
        schedule = space.schedule(point)
        assert schedule is not None
        request = Request(program, schedule, BOARD, CLOCK)
        return judged(ModelEvaluator().evaluate(request), limits)

    return space, list(evaluated(pom(space, budget, limits), evaluate))


def best(trials: list[Evaluated]) -> Evaluated:
    return min(
        (t for t in trials if t.result.status is Status.OK), key=lambda t: t.result.latency or 0
    )


def test_stage_1_leaves_no_innermost_loop_that_carries():
    for name in ("gemm", "atax", "bicg", "mvt", "jacobi_2d", "seidel_2d", "k2mm"):
        space = space_of(example(name, "mini"), TOOL)
        point = stage1(space)[0]
        for n, nest in enumerate(space.variants[point.variant].nests):
            order = space.order(point, n)
            assert order.free or not order.loops, (name, nest.leader)


def test_stage_1_skews_only_where_nothing_else_helps():
    space = space_of(example("seidel_2d", "mini"), TOOL)
    assert any(isinstance(step, Skew) for step in space.order(stage1(space)[0], 0).steps)
    space = space_of(example("jacobi_2d", "mini"), TOOL)
    assert not any(space.order(stage1(space)[0], n).skewed for n in range(2))


@pytest.mark.parametrize("name", ["gemm", "atax", "bicg", "gesummv", "mvt", "jacobi_2d"])
def test_stage_2_comes_near_the_bound_within_the_budget(name):
    program = example(name, None)
    _, trials = explored(program, 220)
    found = best(trials).result
    assert found.resources["dsp"] <= 220
    bound = bounds(work_of(program, TOOL), TOOL, 220).cycles
    assert bound <= found.latency <= 1.6 * bound
    assert found.latency < trials[0].result.latency / 8


def test_more_to_spend_is_not_slower():
    program = example("gemm", "small")
    latencies = [best(explored(program, dsp)[1]).result.latency for dsp in (20, 60, 200)]
    assert latencies == sorted(latencies, reverse=True)
    assert latencies[0] > 3 * latencies[-1]


def test_without_a_budget_that_is_enough_there_is_no_feasible_design():
    _, trials = explored(example("gemm", "mini"), 1)
    assert {t.result.status for t in trials} == {Status.INFEASIBLE}


@pytest.mark.parametrize(
    "name", ["primes", "gemm", "atax", "bicg", "jacobi_2d", "seidel_2d", "trmm"]
)
def test_designs_are_legal_and_compute_what_the_program_does(name):
    program = primes.program if name == "primes" else example(name, "mini")
    space, trials = explored(program, 60)
    schedule = space.schedule(best(trials).point)
    assert schedule is not None
    assert verify(program, schedule, cxx=name in ("primes", "seidel_2d")).ok


def test_the_same_design_comes_out_each_time():
    program = example("k2mm", "mini")
    first, second = (explored(program, 100)[1] for _ in range(2))
    assert [t.point for t in first] == [t.point for t in second]


def test_what_is_over_another_limit_is_planned_smaller():
    limits = Limits({"dsp": 220, "lut": 1000})
    fits = Result(Status.OK, 1.0, {"dsp": 220, "lut": 1000})
    assert less(220, 220, fits, limits) is None
    dear = Result(Status.OK, 1.0, {"dsp": 223, "lut": 900})
    assert less(220, 220, dear, limits) == 217
    large = Result(Status.OK, 1.0, {"dsp": 200, "lut": 1250})
    assert less(220, 220, large, limits) == 176
    hardly = Result(Status.OK, 1.0, {"dsp": 200, "lut": 1001})
    assert less(220, 220, hardly, limits) == 219
    many = Result(Status.OK, 1.0, {"dsp": 60, "lut": 900})
    assert less(16, 16, many, Limits({"dsp": 16})) == 4


@pytest.mark.parametrize("budget", [36, 60])
def test_no_trial_is_spent_on_what_ranking_knows_to_be_too_much(budget):
    """Products of addresses are slices, too, which planning one nest at a time leaves out."""
    space = space_of(primes.program, TOOL, True)
    estimates = Estimates(space)
    assert estimates.figures(solve(space, 0, budget)[0].point).dsp > budget
    limits = Limits({"dsp": budget})
    found = list(evaluated(solved(space, budget, limits, 2, {}), lambda p: Result(Status.OK, 1.0)))
    assert found
    assert all(estimates.figures(one.point).dsp <= budget for one in found)


def test_no_trial_is_spent_on_what_takes_too_many_luts_by_all_that_is_known():
    """Banks that several nests ask for together take LUTs, too, which planning one nest at a time leaves out."""
    space = space_of(primes.program, TOOL, True)
    estimates = Estimates(space)
    over = 0
    for first in solve(space, 0, 60):
        most = estimates.area(first.point).lut - 1
        fabric = FabricBudget(estimates, most, inf)
        planned = solve(space, 0, 60, fabric=fabric.plan(0))
        over += estimates.area(planned[0].point).lut > most
        asked = solved(space, 60, Limits({"dsp": 60, "lut": int(most)}), 1, {}, fabric)
        (point,) = next(asked)
        assert estimates.area(point).lut <= most
    assert over  # by planning alone
