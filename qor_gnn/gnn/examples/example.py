"""Labelled designs as the networks and the baselines learn from: graph, white box, labels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from qor_gnn.gnn.graph.build import DesignGraph

METRICS = ("latency", "lut", "ff", "dsp", "bram18", "period_ns")
"""What is predicted: cycles, counts, and the least clock period in ns."""

BASE = (*METRICS, "uram")
LABELS = (*METRICS, "uram", "ii", "il")
"""What a tool may say: beside `METRICS` blocks of URAM, and of single loops the initiation interval
and the latency of an iteration, which are never inputs."""

Z90 = 1.6449
"""Standard deviations around the mean that hold 90% of a normal distribution."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled design.

    Attributes:
        graph: of the design.
        base: the white box's answer, every metric of `BASE`.
        label: what the tool said, only the metrics of `LABELS` that it has.
        target: name of the tool personality: tool, device and clock.
        kernel: what is left out in "leave one kernel out"; never an input.
        family: kernels of one family are left out together; never an input.
        group: digest of equivalent designs; never straddles a split.
        pragmas: the directives as numbers, in the order of the kernel's data set; no names.
        terms: the white box's resource terms, ``lut.NAME`` and ``ff.NAME`` (counts, or LUTs and
            flip-flops: see `qor_gnn.area.terms`).
        part: the nest that the design holds alone, "" for a whole kernel.
        weight: equal designs of the data set that the example stands for.
        name: of the design in its data set, for people.
    """

    graph: DesignGraph
    base: Mapping[str, float]
    label: Mapping[str, float]
    target: str
    kernel: str
    family: str
    group: str
    pragmas: tuple[float, ...]
    terms: Mapping[str, float] = field(default_factory=dict)
    part: str = ""
    weight: float = 1.0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Answers for n designs: of each metric an array of shape (n,).

    Attributes:
        mean: the predicted value, in the metric's unit.
        std: the standard deviation of the logarithm (of ``log1p`` of it, as counts may be 0).
    """

    mean: Mapping[str, Floats]
    std: Mapping[str, Floats]

    def interval(self, metric: str) -> tuple[Floats, Floats]:
        """The 90% interval of a metric: bounds of shape (n,)."""
        middle, reach = np.log1p(self.mean[metric]), Z90 * self.std[metric]
        return np.expm1(middle - reach), np.expm1(middle + reach)


class Fitted(Protocol):
    """A predictor that has learned."""

    def predict(self, examples: Sequence[Example]) -> Prediction:
        """Answers for designs, whose labels are not looked at."""


class Predictor(Protocol):
    """A way to learn, with its settings: the same examples and seed give the same answers."""

    @property
    def name(self) -> str:
        """Short, for tables."""

    def fit(self, train: Sequence[Example], valid: Sequence[Example], seed: int) -> Fitted:
        """Learn. ``valid`` (possibly empty) is for stopping and for calibrating intervals."""


@dataclass(frozen=True, slots=True)
class Split:
    """Indices into a sequence of examples. No group is in two parts."""

    name: str
    train: tuple[int, ...]
    valid: tuple[int, ...]
    test: tuple[int, ...]


def digest(*parts: object) -> str:
    """A short name for a group of equivalent designs."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def where(examples: Sequence[Example], holds: Callable[[Example], bool]) -> tuple[int, ...]:
    """Indices of the examples for which it holds."""
    return tuple(n for n, example in enumerate(examples) if holds(example))


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """The different values, sorted."""
    return tuple(sorted(set(values)))


def column(examples: Sequence[Example], metric: str, of: str = "label") -> Floats:
    """A metric of all examples, shape (n,): of ``label`` (NaN where there is none) or ``base``."""
    rows = (example.label if of == "label" else example.base for example in examples)
    return np.array([row.get(metric, np.nan) for row in rows], dtype=np.float64)
