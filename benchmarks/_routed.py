"""Totals after placement and routing next to what is said of them, each project left out in turn.

Laws and intervals are fitted anew without the project (`qor_gnn.fit.routed`). In the median and the coverage a project
counts once, however many designs of it there are; rows ``…_by_design`` count each design.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks._row import Goal, Row
from qor_gnn.fit.labelled.routed_pairs import ACCELERATORS, PAIRS, pairs
from qor_gnn.fit.routed import Scored, scored, weights_of
from qor_gnn.routed.laws import QUANTITIES

PROVENANCE = "implementation reports of public projects on AMD parts, the project left out"


def there_are(data: Path) -> bool:
    """Whether a folder of labelled designs has the pairs."""
    return (data / PAIRS / "pairs.csv").is_file() and (
        data / ACCELERATORS / "designs.csv"
    ).is_file()


def rows(name: str, data: Path) -> Iterator[Row]:
    """The rows of each quantity, those of LUT with their goals as those of ``all``.

    Args:
        name: of the benchmark.
        data: the folder of labelled designs.
    """
    designs = pairs(data)
    for quantity in QUANTITIES:
        found = scored(quantity, designs)
        by_project = [float(w) for w in weights_of([one.pair for one in found])]
        for suffix, weights in (("", by_project), ("_by_design", [1.0] * len(found))):
            for metric, value in _figures(found, weights).items():
                goal = None
                case, named = f"routed {quantity}", f"{metric}{suffix}"
                if quantity == "lut" and not suffix and metric in _GOALS:
                    case, named, goal = "all", *_GOALS[metric]
                unit = "1" if metric == "width_ratio" else "%"
                yield Row(name, case, named, value, unit, goal, PROVENANCE, len(found))


_GOALS = {
    "ape_median_pct": ("routed_lut_ape_median_pct", Goal("<=", 40)),
    "coverage90_pct": ("routed_coverage90_pct", Goal(">=", 85)),
}


def _figures(found: Sequence[Scored], weights: Sequence[float]) -> dict[str, float]:
    inside = sum(w for one, w in zip(found, weights, strict=True) if one.inside)
    csynth = [abs(one.csynth - one.true) / max(one.true, 1.0) for one in found]
    widths = [one.said.high / max(one.said.low, 1.0) for one in found]
    return {
        "ape_median_pct": 100 * middle([one.error for one in found], weights),
        "csynth_ape_median_pct": 100 * middle(csynth, weights),
        "coverage90_pct": 100 * inside / sum(weights),
        "width_ratio": middle(widths, weights),
    }


def middle(values: Sequence[float], weights: Sequence[float]) -> float:
    """The median where each value has a weight; NaN of none."""
    half, passed = sum(weights) / 2, 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        passed += weight
        if passed >= half:
            return value
    return math.nan
