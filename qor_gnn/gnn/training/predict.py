"""The networks as a `qor_gnn.gnn.examples.example.Predictor`, and designs as they ask about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from qor_gnn.design.region import Kernel
from qor_gnn.gnn.examples.convert import Origin, example
from qor_gnn.gnn.examples.example import METRICS, Z90, Example
from qor_gnn.gnn.nets.network import Shape
from qor_gnn.gnn.training.ensemble import Model, calibrated
from qor_gnn.gnn.training.train import Progress, Settings, checkpoint_for, train
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.tools.personality import Personality

FLAT = Settings(Shape(flat=True, layers=3))
"""The baseline without hierarchy."""

_FEW = 0.1  # of the median kernel's designs: with fewer a kernel is adapted to, not trained on


@dataclass(frozen=True, slots=True)
class GnnPredictor:
    """An ensemble of networks.

    Attributes:
        settings: how to train.
        checkpoint: file to keep what is done in; None for none.
        progress: is told after each epoch.
        card: what people should know of the data.
    """

    settings: Settings = field(default_factory=Settings)
    checkpoint: Path | None = None
    progress: Progress | None = None
    card: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``gnn``, or ``gnn-flat`` without hierarchy."""
        return "gnn-flat" if self.settings.shape.flat else "gnn"

    def fit(self, train_on: Sequence[Example], valid: Sequence[Example], seed: int) -> Model:
        """Learn from both: each member keeps back other designs, to calibrate by.

        Kernels with few designs beside those of the others do not move the networks: the ensemble
        is adapted to them afterwards.

        Raises:
            InputError: W508, W538: the checkpoint cannot be written, or is of another training.
            ValueError: there are no examples.
        """
        examples, few = divided_by_number([*train_on, *valid])
        kept = self.checkpoint
        place = None if kept is None else checkpoint_for(kept, examples, self.settings, seed)
        heard: Progress = self.progress or (lambda _, __, ___: None)
        trained = train(examples, self.settings, seed, place, heard)
        model = calibrated(trained, examples, self.card)
        return model.adapted(few) if few else model


def divided_by_number(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Designs of kernels with many, and of those with few beside them."""
    sizes: dict[str, int] = {}
    for e in examples:
        sizes[e.kernel] = sizes.get(e.kernel, 0) + 1
    least = _FEW * float(np.median(list(sizes.values()))) if sizes else 0.0
    many = [e for e in examples if sizes[e.kernel] >= least]
    return many, [e for e in examples if sizes[e.kernel] < least]


# ----------------------------------------------------------------------------------------- designs


def design(
    kernel: Kernel, tool: Personality, answer: QorEstimate, kept: frozenset[str] = frozenset()
) -> Example:
    """A design to ask about, without labels.

    Args:
        kernel: the region tree with its directives.
        tool: whose white box answered.
        answer: its estimate.
        kept: loops whose unroll factor somebody wrote, as in `qor_gnn.estimate.estimate`.
    """
    seen = kernel if tool.is_open else automatic(kernel, tool, kept)
    return example(kernel, seen, answer, {}, Origin(kernel.name, kernel.name))


@dataclass(frozen=True, slots=True)
class Figure:
    """One predicted figure.

    Attributes:
        value: in the metric's unit.
        std: standard deviation, in the metric's unit.
        low, high: of the 90% interval.
        model: the white box's figure.
        provenance: ``gnn``; ``model`` of a metric that no label told anything about: then the rest is
            a guess.
    """

    value: float
    std: float
    low: float
    high: float
    model: float
    provenance: str


def figures(model: Model, asked: Sequence[Example]) -> list[dict[str, Figure]]:
    """The figures of each design, by metric; see `qor_gnn.gnn.training.ensemble.Model.answers_as`."""
    asked = [replace(one, target=model.answers_as(one.target)) for one in asked]
    found = model.predict(asked)
    learned = {target: model.learned(target) for target in {e.target for e in asked}}
    ranges = {m: found.interval(m) for m in METRICS}
    rows = []
    for n, one in enumerate(asked):
        row = {}
        for m in METRICS:
            low, high = float(ranges[m][0][n]), float(ranges[m][1][n])
            std = (high - low) / (2 * Z90)
            source = "gnn" if m in learned[one.target] else "model"
            row[m] = Figure(float(found.mean[m][n]), std, max(0.0, low), high, one.base[m], source)
        rows.append(row)
    return rows
