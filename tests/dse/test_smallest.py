"""With few trials: searches begin with what leaves room, and end with a design wherever any fits."""

from __future__ import annotations

from math import inf

import pytest

import weft
from backends.devices import device
from dse.evaluators.base import Limits, Result, Status
from dse.evaluators.model import personality_for
from dse.space.space import Point, Space, space_of
from dse.strategies.auto import opening
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import FabricBudget, FabricPlan, fabric_budget
from dse.strategies.pom import roomy, stage1
from dse.strategies.search import evaluated
from dse.strategies.smallest import smallest
from dse.strategies.solve import solve
from dse.strategies.spend import Spend
from weft import f32

BOARD, CLOCK = device("xc7z020"), 10.0
TOOL = personality_for(BOARD, CLOCK)


@weft.kernel
def scores(S: f32[8, 24]):
    for i in range(8):
        largest: f32 = S[i, 0]
        for j in range(1, 24):
            largest = max(largest, S[i, j])
        total: f32 = 0.0
        for j in range(24):
            S[i, j] = weft.exp(S[i, j] - largest)
            total += S[i, j]
        for j in range(24):
            S[i, j] = S[i, j] / total


def limits(lut: float = 0.8) -> Limits:
    return Limits({"dsp": BOARD.dsp, "lut": int(lut * BOARD.lut)})


@pytest.fixture(scope="module")
def space() -> Space:
    return space_of(scores.program, TOOL)


def budget(space: Space, lut: float = 0.8) -> FabricBudget:
    return fabric_budget(Estimates(space), limits(lut))


def found(lut: int, status: Status = Status.OK, spread: float = 0.0) -> Result:
    return Result(status, 1000.0, {"dsp": 10, "lut": lut, "bram18": 4}, spread={"lut": spread})


def test_few_trials_find_a_design_in_little_logic():
    run = weft.explore(scores, device="xc7z020", limits={"lut": 3_500}, trials=2, progress=False)
    assert run.best().resources["lut"] <= 3_500


def test_the_first_design_leaves_room_for_copies(space):
    first = stage1(space)[0]
    assert roomy(space, BOARD.dsp, budget(space)) == first
    lut = budget(space).estimates.area(first).lut
    tight = budget(space, lut / 0.9 / BOARD.lut)
    assert tight.share(first, BOARD.dsp) > 0.8
    other = roomy(space, BOARD.dsp, tight)
    assert tight.share(other, BOARD.dsp) <= 0.8
    none = budget(space, 0.01)
    assert roomy(space, BOARD.dsp, none) == first  # wherever it does not matter


def test_where_nothing_fits_the_smallest_structures_are_tried(space):
    fabric = budget(space)
    asked = list(smallest(space, BOARD.dsp, fabric, {Point(0, ()): found(1)}))
    assert asked == []  # something fits
    tried = [
        one.point
        for one in evaluated(
            smallest(space, BOARD.dsp, fabric, {}), lambda _: found(10**6, Status.INFEASIBLE)
        )
    ]
    assert len(tried) == 3
    plain = [space.plain(n) for n in range(len(space.variants))]
    assert set(tried) <= set(plain)
    least = min(fabric.estimates.area(point).lut for point in plain)
    assert fabric.estimates.area(tried[0]).lut == pytest.approx(least, rel=0.1)


def test_a_search_asks_for_them_before_it_goes_on(space):
    """An evaluator that knows one design alone to fit: the smallest."""
    fabric = budget(space)
    plain = [space.plain(n) for n in range(len(space.variants))]
    least = min(plain, key=lambda point: fabric.share(point, BOARD.dsp))

    def evaluate(point: Point) -> Result:
        return found(1000) if point == least else found(10**6, Status.INFEASIBLE)

    search = opening(space, BOARD.dsp, limits())
    points = []
    for one in evaluated(search, evaluate):
        points.append(one.point)
        if one.point == least or len(points) == 12:
            break
    assert least in points


def test_what_keeps_to_a_limit_is_the_upper_end(space):
    """Of what is predicted."""
    point = space.plain(0)
    sure, unsure = budget(space), budget(space)
    lut = round(sure.lut_of(point))
    before = sure.excess(point)
    sure.learn(point, found(lut))
    assert sure.excess(point) == pytest.approx(before, abs=0.01)
    unsure.learn(point, found(lut, spread=0.5 * lut))
    assert unsure.excess(point) > before + 0.01


def test_a_plan_that_came_out_larger_is_tightened(space):
    spend = Spend(BOARD.dsp, budget(space))
    point = space.plain(0)
    spend.tightened(0.25, point)
    plan = spend.plan(0)
    assert plan is not None
    assert plan.lut == pytest.approx(spend.fabric.lut_of(point) / 1.25)


@weft.kernel
def weighted(S: f32[16, 24], V: f32[24, 12], Y: f32[16, 12], m: f32[16], z: f32[16]):
    e: f32[16, 24]
    for i, j in weft.grid(16, 24):
        e[i, j] = weft.exp(S[i, j] - m[i])
    for i, j in weft.grid(16, 24):
        z[i] += e[i, j]
    for i, d, j in weft.grid(16, 12, 24):
        Y[i, d] += e[i, j] * V[j, d]
    for i, d in weft.grid(16, 12):
        Y[i, d] = Y[i, d] / z[i]


def test_plans_of_fewer_luts_take_fewer():
    """Units that nests share count from the first nest on, so that what is planned last has room."""
    own = space_of(weighted.program, TOOL)
    plans = solve(own, 1, BOARD.dsp, fabric=FabricPlan(Estimates(own).areas, 12_000))
    assert min(plan.over for plan in plans) <= 0.02
    assert min(plan.lut for plan in plans) <= 12_240


def test_plans_have_as_much_less_as_ranking_finds_more(space):
    fabric = budget(space)
    point = stage1(space)[0]
    before = fabric.plan(point.variant)
    assert before.planned == before.lut
    for _ in range(3):
        fabric.rank(point, fabric.lut_of(point) / 1.2)
    after = fabric.plan(point.variant)
    assert after.lut == before.lut
    assert before.planned / 1.2 < after.planned < before.planned / 1.1
    other = next(n for n in range(len(space.variants)) if n != point.variant)
    assert after.planned < fabric.plan(other).planned < before.planned


def test_steps_back_grow_with_each_design_over_a_limit(space):
    fabric, point = budget(space), stage1(space)[0]
    steps = []
    for status in (Status.INFEASIBLE, Status.INFEASIBLE, Status.OK, Status.INFEASIBLE):
        spend = steps[-1][0] if steps else Spend(BOARD.dsp, fabric)
        spend._most = inf
        lut = int(1.1 * limits().resources["lut"]) if status is Status.INFEASIBLE else 100
        spend.reduced(point, found(lut, status), limits())
        steps.append((spend, fabric.lut_of(point) / spend._most))
    first, second, fits, again = (step for _, step in steps)
    assert first == pytest.approx(again) == pytest.approx(1.1, rel=0.01)
    assert second == pytest.approx(1.15, rel=0.01)
    assert fits == 0.0
