"""What the cells of a module take after routing, and the clock period.

``costs.json`` was fitted to the dataset of routed designs, by ``python -m dse.labels.area_costs``.
"""

from __future__ import annotations

import json
from pathlib import Path

KINDS = {
    "pairs": "tables of two bits that no multiplexer or parity is",
    "gates": "tables of three or four such bits",
    "parities": "tables with an exclusive or at their output",
    "choices": "multiplexers of two bits, and what fits into their table",
    "chained_gates": "gates and parities in front of one of their own kind alone",
    "chained_choices": "multiplexers in front of another one alone",
    "third_choices": "of three that choose one of four words, one: larger trees take fewer tables",
    "carry": "cells of carry chains, two bits each",
    "chains": "carry chains: routing puts a cell at either end",
    "rows": "tables of distributed memories",
    "row_choices": "multiplexers behind rows of memories",
    "flops": "bits of registers",
    "multipliers": "MULT18X18D",
    "block_rams": "DP16KD",
}

TABLED = tuple(kind for kind in KINDS if kind not in ("flops", "multipliers", "block_rams"))
"""Kinds that take tables."""

FILE = Path(__file__).with_name("costs.json")
_FITTED = json.loads(FILE.read_text(encoding="utf-8"))

LUTS: dict[str, float] = {kind: float(_FITTED["luts"][kind]) for kind in TABLED}
"""LUT4 for each; a cell of a carry chain has two, and what a chain starts and ends with is in it."""

PERIOD: tuple[float, ...] = tuple(map(float, _FITTED["period"]))
"""Clock period in ns: a constant, of the longest path before placement, of the logarithm of the LUT."""
