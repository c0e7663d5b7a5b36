"""Rows of the benchmark: names, means and goals, from rows of errors."""

import pytest

from benchmarks.qor_gnn import Study, figures, goal_of
from qor_gnn.gnn.training.baselines import WhiteBox
from qor_gnn.gnn.training.evaluate import EvalRow
from qor_gnn.gnn.training.metrics import Errors


def row(split: str, seed: int, metric: str, mape: float, tau: float = 0.9) -> EvalRow:
    off = Errors(mape, mape / 2, tau, 90.0, 40)
    return EvalRow(split.partition("/")[0], split, "mine", seed, metric, off, 2 * mape, 30.0)


FOUND = {
    "P1/a": [
        row("P1/a", 0, "lut", 2.0),
        row("P1/a", 1, "lut", 4.0),
        row("P1/a", 0, "ff", 1.0, 0.7),
    ],
    "P1/b": [row("P1/b", 0, "lut", 9.0)],
}


def test_figures_are_means_over_seeds_and_then_over_splits():
    found = {(case, metric): value for case, metric, value, _ in figures(FOUND, "P1")}
    assert found["P1/a", "lut_mape_pct"] == 3
    assert found["P1/a", "kendall_tau"] == 0.7
    assert found["P1/mean", "lut_mape_pct"] == 6
    assert found["P1/mean", "lut_median_ape_pct"] == 3
    assert found["P1/mean", "ff_mape_pct"] == 1
    assert found["adrs/b", "adrs_pct"] == 18
    assert found["P1", "train_minutes"] == 0.5


def test_a_data_set_of_its_own_name_has_no_fronts():
    cases = {case for case, *_ in figures(FOUND, "u200")}
    assert cases == {"u200/a", "u200/b", "u200/mean", "u200"}


@pytest.mark.parametrize(
    ("case", "metric", "goal"),
    [
        ("P1/atax", "lut_mape_pct", "<= 8"),
        ("P1/mean", "lut_mape_pct", "<= 4"),
        ("P2/gemm syr2k", "kendall_tau", ">= 0.95"),
        ("P2/mean", "lut_mape_pct", None),
        ("adrs/atax", "adrs_pct", "<= 3"),
        ("u200/mean", "bram_median_ape_pct", "<= 5"),
        ("u200/2mm", "lut_mape_pct", None),
        ("open/mean", "period_mape_pct", "<= 8"),
        ("k16/mean", "ff_mape_pct", "<= 4.5"),
    ],
)
def test_goals(case, metric, goal):
    found = goal_of(case, metric)
    assert (None if found is None else str(found)) == goal


def test_only_the_first_predictor_has_goals_and_intervals_have_two():
    study = Study([WhiteBox()], [0], quick=False)
    mine = list(study._row("", "P1/mean", "coverage90_pct", 97.0, 3, "there"))
    assert [(str(r.goal), r.ok) for r in mine] == [(">= 85", True), ("<= 95", False)]
    (other,) = study._row("white box/", "P1/mean", "coverage90_pct", 97.0, 3, "there")
    assert other.goal is None
    assert other.case == "white box/P1/mean"
