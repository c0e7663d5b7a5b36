"""LUTs and block RAM of points without a schedule, and how a search plans with them."""

from __future__ import annotations

import random
from math import inf
from statistics import median

import pytest

import weft
from backends.devices import device
from benchmarks.ranking import drawn
from dse.area.accesses import distinct, reach
from dse.area.designs import Area, Areas
from dse.area.nests import Module, NestArea
from dse.estimates.estimation import ranked, setting
from dse.evaluators.base import Limits, Result, Status
from dse.space.costs.cost import cost
from dse.space.nests.nest import Use
from dse.space.space import Point, Space, space_of
from dse.strategies.estimates import Estimates
from dse.strategies.fabric import FabricPlan, fabric_budget
from dse.strategies.solve import _Solver, solve
from dse.strategies.spend import Spend
from dsl.expressions.affine import Affine
from polyhedral.codegen.generate import loop_tree
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.memory.automatic_partition import partitioned
from weft import f32, i32, u8

WHERE = setting(None, device("xc7z020"), 10.0)
_CONTROL = 80  # LUTs


@weft.kernel
def votes(x: u8[96], t: u8[12], n: i32[12]):
    for k in range(12):
        n[k] = 0
    for k, i in weft.grid(12, 96):
        n[k] += 1 if x[i] > t[k] else 0


@weft.kernel
def smooth(x: u8[24, 40], y: u8[24, 40]):
    rows: u8[24, 40]
    for i in range(24):
        for j in range(1, 39):
            rows[i, j] = (x[i, j - 1] + 2 * x[i, j] + x[i, j + 1]) >> 2
    for i in range(1, 23):
        for j in range(1, 39):
            y[i, j] = (rows[i - 1, j] + 2 * rows[i, j] + rows[i + 1, j]) >> 2


@weft.kernel
def scaled(a: f32[30, 28], x: f32[28], y: f32[30]):
    for i, j in weft.grid(30, 28):
        y[i] += a[i, j] * x[j]


def space(kernel: weft.Kernel) -> Space:
    return space_of(kernel.program, WHERE.tool, True)


def points(found: Space, count: int) -> list[Point]:
    some = drawn(found, random.Random(4), 10 * count)
    plain = [p for p in some if not found.variants[p.variant].made]  # no line buffers
    return [point for point in plain if found.schedule(point) is not None][:count]


def linear(**terms: int) -> Affine:
    const = terms.pop("const", 0)
    return sum((c * Affine.of(v) for v, c in terms.items()), Affine((), const))


@pytest.mark.parametrize("kernel", [votes, smooth, scaled], ids=lambda k: k.name)
def test_areas_are_near_the_model(kernel):
    found = space(kernel)
    estimates = Estimates(found)
    off = []
    for point in points(found, 7):
        schedule = found.schedule(point)
        exact = ranked(apply(found.program, schedule), schedule, WHERE).answer
        area = estimates.area(point)
        # Of what controls a design, some hundred LUTs, not all is counted.
        off.append(max(0.0, abs(area.lut - exact.lut) - _CONTROL) / exact.lut)
        tree = loop_tree(apply(found.program, schedule))
        _, copies = partitioned(kernel_of_tree(tree), WHERE.tool)
        # Arrays that the tool reads from copies are counted once.
        assert area.bram18 * copies.get("rows", 1) == exact.bram18
    assert (
        median(off) < 0.2
    )  # the second port of a bank has multiplexers, too, of which some are not counted
    assert max(off) < 0.5


def test_where_a_copy_may_go():
    use = Use("x", (linear(i=1, j=1),), False, (64,), (1, 1, 2))
    known = reach(use, {"i": 8}, {"i": 4, "j": 1}, (8,))
    assert (known.banks, known.touched, known.selection) == (1, 8, 0)
    moves = reach(use, {"i": 8}, {"i": 4, "j": 5}, (8,))
    assert (moves.banks, moves.decoded, moves.touched) == (
        5,
        4,
        5,
    )  # multiples of the banks, and five values
    assert reach(use, {"i": 8}, {"i": 4}, (8,)).banks == 8  # nobody knows how far j goes
    assert reach(use, {"i": 6}, {"i": 4, "j": 1}, (8,)).banks == 4  # known modulo 2
    plane = Use("y", (linear(i=1), linear(j=1)), True, (8, 8), (1, 1, 2))
    blocks = {"i": 8, "j": 8}
    assert reach(plane, {}, blocks, (2, 4)).decoded == 4
    assert reach(plane, {}, blocks, (2, 4), joint=True).decoded == 7


def test_neighbours_read_an_element_once():
    taps = [Use("x", (linear(i=1, const=k),), False, (64,), (1, 1, 2)) for k in (-1, 0, 1)]
    assert sum(distinct(taps, {"i": 8})) == 10
    assert sum(distinct(taps, {})) == 3


def test_multiplexers_grow_with_the_banks_that_others_want():
    found = space(votes)
    areas, estimates = Areas(found), Estimates(found)
    point = found.plain()
    luts = [
        areas.nest(
            0, 1, point.choices[1], estimates._cost(0, 1, point.choices[1], frozenset()), banks
        ).lut
        for banks in ({}, {("x", 0): 4}, {("x", 0): 32})
    ]
    assert luts == sorted(luts)
    assert luts[0] < luts[1] < luts[2]


def test_ports_of_banks_that_two_bodies_use_are_shared():
    areas = Areas(space(votes))
    alone, together = (
        areas.design(0, [NestArea(0.0, (Module({}, {"x": banks}, {}),))] * 2, {}).lut
        for banks in (0, 16)
    )
    assert together > alone + 16 * 20


def test_what_is_too_large_comes_after_what_is_not():
    found = space(votes)
    areas = Areas(found)
    free = solve(found, 0, 220)
    tight = solve(found, 0, 220, fabric=FabricPlan(areas, 1_500))
    assert tight[0].over == 0
    assert tight[0].cycles > free[0].cycles
    assert all(s.over == 0 for s in solve(found, 0, 220, fabric=FabricPlan(areas, 1e9)))
    nothing = solve(found, 0, 220, fabric=FabricPlan(areas, 1))
    assert nothing
    assert all(s.over > 0 for s in nothing)


def test_states_over_a_limit_come_in_their_order_however_late_they_are_looked_at(monkeypatch):
    found, looked = space(smooth), _Solver._least_excess
    plans = []
    for least in (looked, lambda *_: -1.0):  # each is looked at at once
        monkeypatch.setattr(_Solver, "_least_excess", least)
        areas = Areas(found)
        plans.append([solve(found, 0, 220, fabric=FabricPlan(areas, n, 40)) for n in (1, 2_000)])
    assert plans[0] == plans[1]
    assert all(plans[0])


def test_errors_of_areas_are_learnt():
    found = space(votes)
    budget = fabric_budget(Estimates(found), Limits({"lut": 4_000, "bram18": 100}))
    point, before = found.plain(), budget.plan(0)
    lut = budget.lut_of(point)
    for _ in range(10):
        budget.learn(point, Result(Status.OK, 10.0, {"lut": round(2 * lut)}))
    after = budget.plan(0)
    assert before is not None
    assert after is not None
    assert after.lut == pytest.approx(before.lut / 2, rel=0.1)
    assert after.bram18 == before.bram18
    assert budget.excess(point) == pytest.approx(2 * lut / 4_000 - 1, abs=0.1)
    budget.learn(point, Result(Status.TIMEOUT))  # has no figures


def test_nothing_is_planned_without_limits_or_figures():
    found = space(votes)
    assert fabric_budget(Estimates(found), Limits({"dsp": 10})).plan(0) is None
    blind = space_of(votes.program, setting("open-ecp5-10ns", None, None).tool, True)
    budget = fabric_budget(Estimates(blind), Limits({"lut": 1_000}))
    assert budget.plan(0) is None
    assert budget.excess(blind.plain()) < 0


def test_less_is_planned_with_after_a_design_over_a_limit():
    found = space(votes)
    limits = Limits({"dsp": 100, "lut": 1_000, "ff": 10_000})
    spend = Spend(100, fabric_budget(Estimates(found), limits))
    point = found.plain()
    assert spend.reduced(point, Result(Status.INFEASIBLE, 9.0, {"dsp": 40, "lut": 2_000}), limits)
    plan = spend.plan(0)
    assert spend.dsp == 100  # slices had nothing to do with it
    assert plan is not None
    assert plan.lut == pytest.approx(spend.fabric.lut_of(point) / 2)
    assert spend.reduced(point, Result(Status.INFEASIBLE, 9.0, {"dsp": 120, "lut": 900}), limits)
    assert spend.dsp == 80
    assert spend.reduced(point, Result(Status.INFEASIBLE, 9.0, {"dsp": 60, "ff": 20_000}), limits)
    assert spend.dsp == 40
    assert not spend.reduced(point, Result(Status.OK, 9.0, {"dsp": 60, "lut": 900}), limits)


def test_an_area_without_figures_is_nothing():
    blind = space_of(votes.program, setting("open-ecp5-10ns", None, None).tool, True)
    assert Estimates(blind).area(blind.plain()) == Area()
    assert FabricPlan(Areas(blind), inf).excess(Area(5.0, 3.0)) == -1


def test_one_nest_more_is_as_all_at_once():
    found = space(smooth)
    point = next(p for p in points(found, 9) if len(p.choices) > 1)
    nests = found.variants[point.variant].nests
    chosen = [
        (n, choice, cost(nest, nest.orders[choice.order], choice.vector, asked=choice.ii))
        for n, (nest, choice) in enumerate(zip(nests, point.choices, strict=True))
    ]
    wanted = {("rows", 1): 4}
    grown, areas = None, Areas(found)
    for k in range(1, len(chosen) + 1):
        grown = areas.some(point.variant, chosen[:k], wanted, grown)
        assert grown == Areas(found).some(point.variant, chosen[:k], wanted)
    assert grown is not None
    assert grown.area.lut > areas.some(point.variant, chosen, {}).area.lut
