"""The front refined by corrected estimates, and banks that serve two copies each."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from backends.devices import device
from benchmarks._search import Small, adrs, exhaustive_rows, front, setting
from dse.evaluators.base import Result, Status
from dse.evaluators.model import personality_for
from dse.space.memory.banks import demand, interval_with, port_interval
from dse.space.memory.partitions import solved, together
from dse.space.space import Choice, Point, space_of
from dse.strategies import small_spaces
from dse.strategies.auto import opening
from dse.strategies.estimates import (
    Correction,
    Estimates,
    Figures,
    figures_of,
    front_of,
    structure_of,
)
from dse.strategies.gains import gains_over
from dse.strategies.neighbours import neighbours, shorter_intervals
from dse.strategies.refine import budgets
from dse.strategies.search import evaluated
from dsl.kernels.loader import load_kernels
from tests.support.amount import sample

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/polybench"
TOOL = personality_for(device("xcu280"), 3.33)


def space(name: str, size: str = "mini"):
    return space_of(load_kernels(EXAMPLES / f"{name}.py")[name].at(size).program, TOOL, True)


def test_the_front_of_a_small_space_is_found_after_two_percent_of_it():
    rows = list(exhaustive_rows(Small("gemm", {"NI": 6, "NJ": 4, "NK": 6}, 6)))
    by_metric = {row.metric: row for row in rows}
    assert by_metric["points"].value > 500
    assert by_metric["evaluated_pct"].value <= 2
    assert by_metric["adrs_pct"].value < 15  # of so few points; the benchmark's spaces are larger


def test_points_of_a_small_space_that_take_many_schedules_are_not_all_looked_at(monkeypatch):
    where, copies = space("bicg"), 3
    estimates = Estimates(where)
    assert small_spaces.is_small(where, copies)
    monkeypatch.setattr(small_spaces, "_LOOKS", 10)

    def looked_at(most: int) -> int:
        """Points until it is given up, and 50 at most."""
        monkeypatch.setattr(small_spaces, "_SCHEDULES", most)
        for number, point in enumerate(small_spaces.affordable(where, copies, estimates)):
            if point is None or number == 50:
                return number
            estimates.figures(point)
        raise AssertionError("there are more points")

    assert looked_at(1) == 10
    assert looked_at(estimates.schedules + 1) > 10


def test_distance_from_the_true_front():
    right = [(10.0, 4.0), (20.0, 2.0)]
    assert adrs(right, right) == 0
    assert adrs(right, [(10.0, 4.0)]) == pytest.approx(0.5)  # twice the DSP of the second
    assert adrs(right, [(11.0, 4.0), (20.0, 2.0)]) == pytest.approx(0.05)
    assert front([(20.0, 2.0), (10.0, 4.0), (21.0, 2.0), (30.0, 3.0)]) == right


@pytest.mark.parametrize("name", sample(["gemm", "jacobi_2d", "k2mm", "bicg"], 2))
def test_estimates_are_near_the_model(name):
    where = setting(name, "mini", 120)
    estimates = Estimates(where.space)
    trials = []
    for trial in evaluated(opening(where.space, 120, where.limits), where.evaluate):
        if where.space.variants[trial.point.variant].name.startswith("distributed"):
            trials.append(trial)
        if len(trials) == 8:
            break
    pairs = [(estimates.figures(t.point), t.result) for t in trials if t.result.latency is not None]
    assert len(pairs) > 5
    for estimated, result in pairs:
        assert estimated.cycles == pytest.approx(result.latency, rel=0.15)
        assert estimated.dsp == pytest.approx(result.resources["dsp"], rel=0.15, abs=4)


def test_nothing_is_evaluated_twice():
    where = setting("gesummv", "mini", 60)
    seen: list[Point] = []

    def evaluate(point: Point) -> Result:
        seen.append(point)
        return where.evaluate(point)

    for _ in evaluated(opening(where.space, 60, where.limits), evaluate):
        if len(seen) >= 30:
            break
    refined = seen[10:]
    assert len(set(refined)) == len(refined)


def test_fewer_budgets_of_the_same_range_are_planned_for_fewer_trials():
    few, many = budgets(1000, 2), budgets(1000, inf)
    assert budgets(1000, -1) == few
    assert few[0] == many[0] == 1000
    assert 3 * len(few) < len(many)
    assert many[-1] < few[-1] < 4 * many[-1]


def test_estimates_are_corrected_by_what_was_evaluated():
    point = Point(0, (Choice(0, (1,)),))
    other, elsewhere = Point(0, (Choice(1, (2,)),)), Point(1, (Choice(0, (1,)),))
    correction = Correction()
    for _ in range(20):
        correction.learn(point, Figures(100, 9), Figures(200, 9))
    near = correction.corrected(structure_of(point), Figures(50, 4))
    assert near.cycles == pytest.approx(100, rel=0.02)
    assert near.dsp == pytest.approx(4)
    assert correction.corrected(structure_of(other), Figures(50, 4)).cycles > 75
    assert correction.corrected(structure_of(elsewhere), Figures(50, 4)).cycles > 65
    ruled = Figures(50, 4, ruled=True)
    assert correction.corrected(structure_of(point), ruled) == ruled  # estimates by rules err apart
    correction.learn(point, Figures(1, 1), Figures(0, 9))  # of nothing there is no share
    assert correction.corrected(structure_of(point), Figures(50, 4)) == near


def test_what_was_found_is_in_slices_or_in_shares_of_the_luts():
    plain = space("gemm")
    result = Result(Status.OK, 200.0, {"dsp": 9, "lut": 5000})
    assert figures_of(plain, result) == Figures(200, 9)
    assert figures_of(replace(plain, logic=250), result) == Figures(200, 20)
    assert figures_of(plain, Result(Status.TIMEOUT)) is None


def test_gain_is_relative_to_what_the_front_has_for_that_dsp():
    found = front_of([Figures(10, 8), Figures(20, 4), Figures(25, 5)])
    assert found == [Figures(10, 8), Figures(20, 4)]
    half, slower, smaller = gains_over(found, np.array([10.0, 22, 100]), np.array([7.0, 6, 1]))
    assert half == pytest.approx(0.693, abs=1e-3)
    assert slower < 0
    assert smaller > 100


def test_neighbours_differ_in_one_nest_and_are_points_of_the_space():
    found = space("gemm")
    point = Point(0, (Choice(0, (2, 5)), Choice(0, (2, 5, 3))))
    near = list(neighbours(found, point))
    assert len(set(near)) == len(near) > 15
    for other in near:
        assert sum(a != b for a, b in zip(point.choices, other.choices, strict=True)) == 1
        for n, choice in enumerate(other.choices):
            order = found.order(other, n)
            assert len(choice.vector) == len(order.loops)
            for loop, u in zip(order.loops, choice.vector, strict=True):
                assert u in loop.factors


def test_shorter_intervals_are_a_few_percent_apart_and_at_least_one():
    def asked(ii: int) -> set[int]:
        return {
            p.choices[1].ii
            for p in shorter_intervals(Point(0, (Choice(0, (4,)), Choice(0, (9,), ii))))
        }

    assert not asked(1)
    assert asked(2) == {1}
    assert asked(10) == {8, 9}
    assert asked(100) == {80, 88, 94}


def test_a_bank_of_two_ports_serves_two_copies_where_there_are_too_many():
    found = space("mvt", "medium")
    first, second = found.variants[0].nests
    parts = []
    for nest, names in ((first, ["i", "j"]), (second, ["i", "j"])):
        order = next(o for o in nest.orders if [loop.name for loop in o.loops] == names)
        parts.append((order, (5, 50)))
    wanted = together(found.program, (demand(order, vector) for order, vector in parts))
    assert wanted["A", 0] == wanted["A", 1] == 50  # 2,500 banks
    steps = solved(found.program, parts)
    assert steps is not None
    banks = {(s.array, s.dim): s.factor for s in steps}
    assert banks["A", 0] * banks["A", 1] <= 1024
    factors = {d: banks["A", d] for d in (0, 1)}
    for order, vector in parts:
        assert interval_with(order, vector, "A", factors) <= port_interval(order, vector) == 1


def test_too_few_banks_are_not_taken():
    found = space("mvt", "medium")
    nest = found.variants[0].nests[0]
    order = nest.orders[0]
    assert interval_with(order, (20, 20), "A", {0: 20, 1: 20}) == 1
    assert interval_with(order, (20, 20), "A", {0: 20, 1: 10}) == 1
    assert interval_with(order, (20, 20), "A", {0: 10, 1: 10}) == 2
    assert interval_with(order, (20, 20), "B", {}) == 1
    assert solved(found.program, [(order, (100, 50))]) is None
    assert solved(found.program, [(order, order.plain)]) == ()
