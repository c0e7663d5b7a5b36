"""What the networks start from: the white box's figures, LUT and FF term by term, and the tool.

Terms cost what was fitted to the designs that a predictor learned from (`qor_gnn.gnn.examples.terms`): figures
of a kernel that was left out would otherwise be in its own starting point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qor_gnn.gnn.examples.example import METRICS, Example, Floats
from qor_gnn.gnn.examples.terms import TERMS, TermModel, amounts_of
from qor_gnn.tools.personality import available, personality

MOST = max(map(len, TERMS.values())) + 1
"""Terms of the resource that has the most, and the fixed part behind them."""

ROUTED = "+route"
"""Behind the name of a tool whose labels are from place and route, not from synthesis."""

SUMMED = ("lut", "ff")
assert tuple(TERMS) == SUMMED


@dataclass(frozen=True, slots=True)
class Start:
    """What the networks correct, of n designs.

    Attributes:
        base: ``log1p`` of each of `METRICS`, shape (n, metrics).
        shares: of LUT and FF what each term is of the whole, shape (n, 2, `MOST`).
    """

    base: Floats
    shares: Floats

    def __getitem__(self, rows: npt.NDArray[np.int64]) -> Start:
        return Start(self.base[rows], self.shares[rows])


def starts(examples: Sequence[Example], models: Sequence[TermModel]) -> tuple[Start, ...]:
    """For each member the white box's answers, LUT and FF as sums of terms that cost what it says.

    Args:
        examples: the designs.
        models: what terms cost, as each member counts it.
    """
    base = np.array([[e.base[m] for m in METRICS] for e in examples]).reshape(-1, len(METRICS))
    amounts = [np.maximum(amounts_of(examples, resource), 0.0) for resource in SUMMED]
    rows: dict[str, list[int]] = {}
    for n, e in enumerate(examples):
        rows.setdefault(e.target, []).append(n)
    places = {target: np.array(r) for target, r in rows.items()}
    return tuple(_start(base.copy(), amounts, places, model) for model in models)


def _start(
    base: Floats,
    amounts: Sequence[Floats],
    places: Mapping[str, npt.NDArray[np.int64]],
    model: TermModel,
) -> Start:
    shares = np.zeros((len(base), len(SUMMED), MOST))
    for k, resource in enumerate(SUMMED):
        column, width = METRICS.index(resource), amounts[k].shape[1]
        for target, rows in places.items():
            costs = model.costs.get((target, resource))
            if costs is None:
                shares[rows, k, width - 1] = 1.0
                continue
            parts = amounts[k][rows] * costs
            total = parts.sum(axis=1)
            base[rows, column] = total
            some = total > 0
            shares[rows[some], k, :width] = parts[some] / total[some, None]
            shares[rows[~some], k, width - 1] = 1.0
    return Start(np.log1p(np.maximum(base, 0.0)), shares)


def clock_of(target: str) -> float:
    """The clock period of a tool in ns; 10 where it is the user's own."""
    return personality(target).clock_ns if target in available() else 10.0


def rows_of_targets(examples: Sequence[Example], known: Sequence[str]) -> npt.NDArray[np.int64]:
    """The row of each design's tool, counted from 1; 0 for a tool that is not known."""
    place = {name: n for n, name in enumerate(known, 1)}
    return np.array([place.get(e.target, 0) for e in examples], dtype=np.int64)
