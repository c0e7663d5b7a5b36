"""Neighbours of the front: proposed once, of the best designs first, within the budget."""

from random import Random

import weft
from dse.space.space import Choice, Point, space_of
from dse.strategies.estimates import Estimates
from dse.strategies.nearby import Nearby
from dse.strategies.refine import neighbours
from dse.strategies.sampled import parameters, sampled_point
from tests.dse.test_space import TOOL, space
from weft import f32

BUDGET = 60


def test_neighbours_of_the_front_come_first_and_once():
    whole = space("polybench/gesummv")
    near = Nearby(whole, BUDGET, Random(0))
    best, dominated = whole.plain(0), whole.plain(1)
    near.learn(dominated, (2.0, 2.0))
    near.learn(best, (1.0, 2.0))
    near.learn(whole.plain(2), None)
    assert list(near.front) == [best]
    found = []
    while (point := near.next()) is not None and point.variant == best.variant:
        found.append(point)
    assert len(found) == len(set(found)) > 5
    assert set(found) <= set(neighbours(whole, best))
    estimates = Estimates(whole)
    assert all(estimates.figures(p).dsp <= BUDGET for p in found)
    assert point in set(neighbours(whole, dominated))


def test_it_ends():
    whole = space("polybench/gesummv")
    near = Nearby(whole, 0, Random(0))
    near.learn(whole.plain(0), (1.0,))
    assert near.next() is None


def test_a_design_in_between_stays_on_the_front():
    whole = space("polybench/gesummv")
    near = Nearby(whole, BUDGET, Random(0))
    for number, values in enumerate([(1.0, 3.0), (3.0, 1.0), (2.0, 2.0)]):
        near.learn(whole.plain(number), values)
    assert len(near.front) == 3
    near.learn(next(neighbours(whole, whole.plain(0))), (1.0, 1.0))
    assert list(near.front.values()) == [(1.0, 1.0)]
    assert len(near.behind) == 3


def test_what_is_drawn_is_new_and_possible_and_within_the_budget():
    whole = space("polybench/gesummv")
    near = Nearby(whole, BUDGET, Random(0))
    near.learn(whole.plain(0), (1.0,))
    found = [near.anywhere() for _ in range(40)]
    schedules = {whole.schedule(point) for point in found}
    assert len(schedules) == 40
    assert None not in schedules
    assert whole.schedule(whole.plain(0)) not in schedules
    assert all(Estimates(whole).figures(point).dsp <= BUDGET for point in found)


def test_estimates_over_the_budget_are_tried_while_nothing_fits():
    whole = space("polybench/gesummv")
    near = Nearby(whole, 0, Random(0))
    assert whole.schedule(near.anywhere()) is not None
    near.learn(whole.plain(0), (1.0,))
    assert near.anywhere() is None


def test_a_sampler_could_have_suggested_what_is_drawn():
    whole = space("polybench/gesummv")
    near = Nearby(whole, BUDGET, Random(0))
    for _ in range(20):
        point = near.anywhere()
        assert sampled_point(Said(parameters(point, whole)), whole, shared=True) == point


@weft.kernel
def named(A: f32[8, 8], x: f32[8], y: f32[8]):
    for ii in range(8):
        for order in range(8):
            y[ii] += A[ii, order] * x[order]


def test_loops_may_be_called_as_parameters_are():
    whole = space_of(named.program, TOOL, reassociate=True)
    (nest,) = whole.variants[0].nests
    for number, order in enumerate(nest.orders):
        vector = tuple(loop.factors[0 if loop.name == "ii" else -1] for loop in order.loops)
        point = Point(0, (Choice(number, vector, 3 if nest.shares_units(order) else 1),))
        assert sampled_point(Said(parameters(point, whole)), whole, shared=True) == point


class Said:
    """Suggests what it was told."""

    def __init__(self, parameters: dict[str, int]) -> None:
        self.parameters = parameters

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        assert low <= self.parameters[name] <= high
        return self.parameters[name]
