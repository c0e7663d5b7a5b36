"""How far predictions are from labels: relative errors, rank, coverage, and what a search loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qor_gnn.gnn.examples.example import Example, Floats, Prediction, column
from qor_gnn.result import pareto

OBJECTIVES = ("latency", "lut", "ff", "dsp")
"""What a front is made of in `exploration_loss`."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Of one metric over some designs; percentages are NaN where no design has a label.

    Attributes:
        mape: mean absolute error relative to the label, percent; labels of 0 are left out.
        median: the same, median.
        tau: Kendall's tau-b between predictions and labels.
        coverage: percent of the labels that are in the 90% intervals.
        designs: labelled designs, duplicates counted.
    """

    mape: float
    median: float
    tau: float
    coverage: float
    designs: float


def errors(examples: Sequence[Example], found: Prediction, metric: str) -> Errors:
    """Errors of one metric; a design counts as often as its data set has it."""
    label = column(examples, metric)
    weight = np.array([e.weight for e in examples], dtype=np.float64)
    given = ~np.isnan(label)
    mean, (low, high) = found.mean[metric], found.interval(metric)
    some = given & (label > 0)
    off = 100 * np.abs(mean[some] / label[some] - 1)
    inside = (low <= label) & (label <= high)
    return Errors(
        mape=_mean(off, weight[some]),
        median=_median(off, weight[some]),
        tau=kendall_tau(mean[given], label[given]),
        coverage=100 * _mean(inside[given].astype(np.float64), weight[given]),
        designs=float(weight[given].sum()),
    )


def _mean(values: Floats, weight: Floats) -> float:
    return float(np.average(values, weights=weight)) if len(values) else float("nan")


def _median(values: Floats, weight: Floats) -> float:
    """The least value that at least half of the weight is at or below."""
    if not len(values):
        return float("nan")
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])


def kendall_tau(a: Floats, b: Floats) -> float:
    """Kendall's tau-b: agreement of two orders, 1 for the same, −1 for the reverse, ties counted.

    NaN where one of them is constant. M. G. Kendall, The treatment of ties in ranking problems,
    Biometrika 33 (1945).
    """
    from scipy.stats import kendalltau

    return float(kendalltau(a, b).statistic) if len(a) > 1 else float("nan")


# --------------------------------------------------------------------------------------- a search


def front(points: Floats) -> npt.NDArray[np.int64]:
    """Indices of the points that no other one dominates; smaller is better.

    Args:
        points: shape (n, objectives). Of equal points all are in the front.
    """
    rows = [tuple(row) for row in points.tolist()]
    best = set(pareto.front(rows, lambda row: row))
    return np.array([n for n, row in enumerate(rows) if row in best], dtype=np.int64)


def adrs(reference: Floats, found: Floats) -> float:
    """Average distance of a front from what was found, percent.

    The mean over the points of the reference of the least, over the points found, of the largest
    relative loss in any objective. (G. Palermo, C. Silvano, V. Zaccaria, ReSPIR, 2009.)

    Args:
        reference: the true front, shape (n, objectives).
        found: true values of what was found, shape (m, objectives).
    """
    scale = np.maximum(1.0, reference)[:, None, :]
    loss = (found[None, :, :] - reference[:, None, :]) / scale
    return float(100 * np.maximum(0.0, loss.max(axis=2)).min(axis=1).mean())


def exploration_loss(examples: Sequence[Example], found: Prediction) -> float:
    """`adrs` of the front of the predictions, percent: its designs by their labels."""
    labels = np.stack([column(examples, metric) for metric in OBJECTIVES], axis=1)
    given = ~np.isnan(labels).any(axis=1)
    guess = np.stack([found.mean[metric] for metric in OBJECTIVES], axis=1)[given]
    labels = labels[given]
    return adrs(labels[front(labels)], labels[front(guess)])
