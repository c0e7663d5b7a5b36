"""Predicted figures as text, as data and as rows, next to the white box's.

The latency is the worst case: that is what the tools report whose labels predictors learn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from dse.estimates.prediction import PROVENANCE, Predicted
from dse.views.estimate import Style
from dse.views.estimate_data import exact
from qor_gnn.result.text import aligned

LABELS = {
    "latency": "latency, worst case", "lut": "LUT", "ff": "FF", "dsp": "DSP", "bram18": "BRAM18",
    "period_ns": "period ns",
}  # fmt: skip


def view(found: Predicted, style: Style) -> str:
    """A table of the figures, with their standard deviations and 90% intervals."""
    rows = [
        (
            LABELS[name],
            _number(name, one.value),
            f"± {_number(name, one.std)}" if one.provenance == PROVENANCE else "-",
            f"{_number(name, one.low)} .. {_number(name, one.high)}"
            if one.provenance == PROVENANCE
            else "no labels",
            _number(name, one.model),
        )
        for name, one in found.figures.items()
    ]
    heads = (f"predicted ({PROVENANCE})", "value", "std", "90% interval", "model")
    lines = aligned(heads, rows, "lrrrr")
    notes = [f"note: {note}" for note in found.notes]
    source = f"{PROVENANCE} of {found.weights}, trained on {', '.join(found.trained_on)}"
    return "\n".join([source, *notes, "", style.head(lines[0]), *lines[1:]]) + "\n"


def _number(name: str, value: float) -> str:
    return f"{value:.2f}" if name == "period_ns" else f"{round(value):,}"


def as_data(found: Predicted) -> dict[str, Any]:
    """The same as JSON."""
    figures = {name: asdict(one) for name, one in found.figures.items()}
    figures["latency"]["case"] = "worst"
    return {
        "provenance": PROVENANCE,
        "weights": found.weights,
        "trained_on": list(found.trained_on),
        "notes": list(found.notes),
        "figures": figures,
    }


def as_rows(found: Predicted, design: dict[str, Any]) -> list[dict[str, Any]]:
    """Two rows beside those of `dse.views.estimate_data.as_rows`: values and standard deviations.

    Args:
        found: the figures.
        design: the row of the design, as the model has it.
    """
    kept = {name: design.get(name) for name in ("name", "tool", "device", "clock_ns")}
    source = {**kept, "provenance": PROVENANCE}
    return [
        {
            "row": "predicted",
            **source,
            **_columns([(n, f.value) for n, f in found.figures.items()]),
        },
        {
            "row": "std",
            **source,
            **_columns(
                [(n, f.std) for n, f in found.figures.items() if f.provenance == PROVENANCE]
            ),
        },
    ]


def _columns(values: Sequence[tuple[str, float]]) -> dict[str, str | None]:
    names = {"latency": "latency_max"}
    return {names.get(n, n): _digits(value) for n, value in values}


def _digits(value: float) -> str | None:
    """All digits that say something: the table's rounding would lose those of large figures."""
    return exact(round(value, 4)) if isfinite(value) else None
