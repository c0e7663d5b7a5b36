"""The Pareto front of figures, against every pair of them; the volume that a front dominates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qor_gnn.result.pareto import covers, dominates, front, hypervolume


def figures(objectives: int) -> st.SearchStrategy[list[tuple[float, ...]]]:
    return st.lists(st.tuples(*[st.integers(0, 6).map(float)] * objectives), max_size=30)


@pytest.mark.parametrize("objectives", [1, 2, 3, 4])
@given(data=st.data())
def test_the_front_is_what_nothing_dominates_one_of_equals(objectives, data):
    points = data.draw(figures(objectives))
    found = front(points, lambda p: p)
    undominated = {p for p in points if not any(dominates(q, p) for q in points)}
    assert found == sorted(undominated)


def test_of_equals_the_first_is_kept():
    designs = [("late", (2.0, 1.0)), ("one", (1.0, 2.0)), ("other", (1.0, 2.0))]
    assert [name for name, _ in front(designs, lambda d: d[1])] == ["one", "late"]


def test_what_is_equal_covers_and_does_not_dominate():
    assert covers((1.0, 2.0), (1.0, 2.0))
    assert not dominates((1.0, 2.0), (1.0, 2.0))
    assert not covers((1.0, 3.0), (1.0, 2.0))


def test_more_on_the_front_is_more_volume():
    assert hypervolume([(5.0, 5.0), (2.0, 8.0)], (10.0, 10.0)) > hypervolume(
        [(5.0, 5.0)], (10.0, 10.0)
    )
