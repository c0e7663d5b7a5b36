"""What a file of weights may say: numbers that a training can end in, and a card that can be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from qor_gnn.gnn.examples.checks import MOST, MOST_FEATURE, check_words
from qor_gnn.gnn.training.ensemble import MOST_STRETCH

NO_LABEL = 1e9
"""In ``shots.N.missed``, instead of a label that is not there: every number in a file is finite."""

_WITHIN: tuple[tuple[str, str, float, float], ...] = (
    ("network.mean_", "", -MOST_FEATURE, MOST_FEATURE),
    ("network.scale_", "", 1e-3, MOST_FEATURE),
    ("network.", "", -1e4, 1e4),
    ("trust", "", 0.0, 1.0),
    ("stretch", "", 0.0, MOST_STRETCH),
    ("costs.", "", 0.0, MOST),
    ("shots.", ".places", -MOST_FEATURE, MOST_FEATURE),
    ("shots.", ".shares", 0.0, 1.0 + 1e-6),
    ("shots.", ".missed", -100.0, 100.0),
)
"""How names begin and end, and what their numbers are within: the first line that fits counts."""

_MEASURES = (str, int, float)


def check_numbers(tensors: Mapping[str, Tensor]) -> None:
    """That every number is one that training, or labels, may have given.

    Raises:
        ValueError: One is not.
    """
    for name, tensor in tensors.items():
        if tensor.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"{name} is of another type, {tensor.dtype}")
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{name} is not finite")
        line = next((w for w in _WITHIN if name.startswith(w[0]) and name.endswith(w[1])), None)
        if line is None:
            continue
        _, end, low, high = line
        bad = (tensor < low) | (tensor > high)
        if end == ".missed":
            bad &= tensor != NO_LABEL
        if bad.any():
            value = float(tensor[bad].flatten()[0])
            raise ValueError(f"{name} holds {value:g}, which is not in {low:g} .. {high:g}")


def check_card(card: object) -> dict[str, Any]:
    """What people should know of a predictor, as far as something is made of it.

    Raises:
        ValueError: It is another thing.
    """
    if not isinstance(card, dict):
        raise ValueError("its card is no object")
    for name in ("measured", "finetuned"):
        rows = card.get(name, [])
        if not isinstance(rows, list | tuple) or not all(isinstance(row, dict) for row in rows):
            raise ValueError(f"'{name}' of its card is no list of objects")
    for row in card.get("measured", []):
        if not all(isinstance(value, _MEASURES) for value in row.values()):
            raise ValueError("'measured' of its card holds what is no measure")
        check_words([value for value in row.values() if isinstance(value, str)])
    return dict(card)
