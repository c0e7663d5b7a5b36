"""Splits keep equivalent designs together, and metrics are what they are called."""

import numpy as np
import pytest

from qor_gnn.gnn.examples.example import Example, Prediction
from qor_gnn.gnn.training.metrics import adrs, errors, exploration_loss, front, kendall_tau
from qor_gnn.gnn.training.protocols import (
    check,
    few_shots,
    leave_families_out,
    leave_kernels_out,
    random_split,
)


def plain(kernel: str, group: str, part: str = "", weight: float = 1.0, **label: float) -> Example:
    family = kernel[0]
    return Example(None, {}, label, "tool", kernel, family, group, (), {}, part, weight)


DESIGNS = [
    plain(kernel, f"{kernel}{n // 2}", part)  # each design twice
    for kernel in ("aa", "ab", "ba")
    for part in ("", "lp1")
    for n in range(60)
]


def test_a_random_split_holds_back_a_fifth_of_the_designs():
    designs = [e for e in DESIGNS if not e.part]
    split = random_split(designs, 0)
    check(designs, split)
    assert len(split.test) == len(split.valid) == 18
    assert sorted((*split.train, *split.valid, *split.test)) == list(range(180))
    assert split == random_split(designs, 0)
    assert split != random_split(designs, 1)


def test_a_split_that_tears_a_group_apart_is_found():
    designs = [plain("aa", "same"), plain("aa", "same")]
    torn = random_split(designs, 0).__class__("torn", (0,), (), (1,))
    with pytest.raises(ValueError, match="torn: equivalent designs are on two sides"):
        check(designs, torn)


def test_a_kernel_that_is_left_out_is_left_out_with_its_nests():
    splits = list(leave_kernels_out(DESIGNS))
    assert [s.name for s in splits] == ["P1/aa", "P1/ab", "P1/ba"]
    for split in splits:
        check(DESIGNS, split)
        kernel = split.name[3:]
        assert {DESIGNS[n].kernel for n in split.train} == {"aa", "ab", "ba"} - {kernel}
        assert all(DESIGNS[n].kernel == kernel and not DESIGNS[n].part for n in split.test)
        assert len(split.test) == 60


def test_families_are_left_out_together():
    splits = {s.name: s for s in leave_families_out(DESIGNS)}
    assert {DESIGNS[n].kernel for n in splits["P2/a"].train} == {"ba"}
    assert {DESIGNS[n].kernel for n in splits["P2/b"].train} == {"aa", "ab"}


def test_a_few_designs_of_the_kernel_are_known_and_not_asked_about():
    for split in few_shots(DESIGNS, 16, 3):
        check(DESIGNS, split)
        kernel = split.name[4:]
        known = [n for n in split.train if DESIGNS[n].kernel == kernel]
        assert len(known) == 16
        assert all(not DESIGNS[n].part for n in known)
        assert len(split.test) == 60 - 2 * 16
    assert list(few_shots(DESIGNS, 16, 3)) != list(few_shots(DESIGNS, 16, 4))


def guess(**columns: list[float]) -> Prediction:
    mean = {name: np.array(values) for name, values in columns.items()}
    return Prediction(mean, {name: np.full(len(v), 0.1) for name, v in mean.items()})


def test_errors_count_designs_as_often_as_they_are():
    designs = [
        plain("a", "1", weight=3, lut=100),
        plain("a", "2", lut=200),
        plain("a", "3", lut=0),
        plain("a", "4"),
    ]
    found = errors(designs, guess(lut=[110, 100, 5, 7]), "lut")
    assert found.mape == pytest.approx((3 * 10 + 50) / 4)
    assert found.median == pytest.approx(10)
    assert found.coverage == pytest.approx(60)  # the interval reaches 16% around the mean
    assert found.designs == 5


def test_errors_of_a_metric_without_labels_are_no_numbers():
    found = errors([plain("a", "1")], guess(dsp=[1.0]), "dsp")
    assert np.isnan(found.mape)
    assert np.isnan(found.median)
    assert np.isnan(found.coverage)


def test_kendalls_tau_counts_ties():
    up = np.array([1.0, 2, 3, 4])
    assert kendall_tau(up, up) == 1
    assert kendall_tau(up, -up) == -1
    assert kendall_tau(up, np.array([1.0, 1, 2, 3])) == pytest.approx(5 / (5 * 6) ** 0.5)
    assert np.isnan(kendall_tau(up, np.ones(4)))


def test_a_front_is_what_nothing_dominates():
    points = np.array([[1.0, 5], [2, 2], [2, 2], [3, 3], [5, 1], [1, 6]])
    assert front(points).tolist() == [0, 1, 2, 4]
    rng = np.random.default_rng(0)
    some = rng.integers(0, 6, (80, 3)).astype(float)
    better = (some[:, None] <= some).all(2) & (some[:, None] < some).any(2)
    assert front(some).tolist() == np.flatnonzero(~better.any(0)).tolist()


def test_the_loss_of_a_front_is_what_the_nearest_design_costs_more():
    right = np.array([[100.0, 10.0], [200.0, 5.0]])
    assert adrs(right, right) == 0
    assert adrs(right, np.array([[110.0, 10.0], [200.0, 4.0]])) == pytest.approx(5)
    assert adrs(right, np.array([[100.0, 10.0]])) == pytest.approx(50)


def test_exploring_by_right_predictions_loses_nothing():
    rng = np.random.default_rng(1)
    rows = rng.integers(1, 50, (40, 4)).astype(float)
    names = ("latency", "lut", "ff", "dsp")
    designs = [plain("a", str(n), **dict(zip(names, r, strict=True))) for n, r in enumerate(rows)]
    right = guess(**{name: rows[:, n] for n, name in enumerate(names)})
    assert exploration_loss(designs, right) == 0
    wrong = guess(**{name: -rows[:, n] for n, name in enumerate(names)})
    assert exploration_loss(designs, wrong) > 50
