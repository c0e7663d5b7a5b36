"""What the lines of all kernels come to: how near the search is to the experts, and what failed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

NEAR = 1.1
"""A design is as good as the expert's if it takes at most so many times its cycles."""
ALIKE = 1.2
"""What variants of one algorithm may be apart."""
_WORST = 10  # kernels that are named


def summary_of(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Figures over all kernels; those of explorations only where there were some."""
    verified = [line for line in lines if line["verified"]]
    found: dict[str, Any] = {
        "kernels": len(lines),
        "verified": len(verified),
        "not_verified": _names([line for line in lines if line not in verified]),
        "infeasible_experts": _names([li for li in lines if not li["expert"]["feasible"]]),
    }
    explored = [line for line in lines if "explore" in line]
    return {**found, **_of_explorations(explored)} if explored else found


def passed(summary: dict[str, Any]) -> bool:
    """Whether everything was verified, feasible and without a crash; distances are no failure."""
    failures = ("not_verified", "infeasible_experts", "crashes", "faults")
    return not any(summary.get(name) for name in failures)


def _of_explorations(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ratios = {
        line["kernel"]: line["explore"]["to_expert"]
        for line in lines
        if line["explore"]["to_expert"] is not None
    }
    near = [name for name, ratio in ratios.items() if ratio <= NEAR]
    others = _names([line for line in lines if line["other_algorithm"]])
    same = set(ratios).difference(others)
    seconds = [line["explore"]["seconds"] for line in lines]
    spreads = spreads_of(lines)
    ranked = sorted(ratios.items(), key=lambda one: -one[1])
    return {
        "explored": len(lines),
        "crashes": {
            line["kernel"]: line["explore"]["crash"] for line in lines if line["explore"]["crash"]
        },
        "faults": {
            line["kernel"]: line["explore"]["faults"] for line in lines if line["explore"]["faults"]
        },
        "no_design": _names([line for line in lines if line["explore"]["cycles"] is None]),
        "late": _names([line for line in lines if line["explore"]["late"]]),
        "one_point_spaces": _names([li for li in lines if li["explore"]["points"] == 1]),
        "near": len(near),
        "near_share": round(len(near) / len(lines), 3),
        "same_algorithm": len(lines) - len(others),
        "near_of_same_algorithm": len(same.intersection(near)),
        "median_to_expert": round(statistics.median(ratios.values()), 3) if ratios else None,
        "worst": dict(ranked[:_WORST]),
        "worst_of_same_algorithm": dict([one for one in ranked if one[0] in same][:_WORST]),
        "group_spreads": spreads,
        "groups_alike": sum(spread <= ALIKE for spread in spreads.values()),
        "median_seconds": round(statistics.median(seconds), 1),
        "max_seconds": max(seconds),
        "max_peak_mib": max(line["explore"]["peak_mib"] for line in lines),
    }


def spreads_of(lines: Sequence[dict[str, Any]]) -> dict[str, float]:
    """By group of several kernels: cycles found for the slowest by those for the fastest."""
    groups: dict[str, list[float]] = {}
    for line in lines:
        cycles = line["explore"]["cycles"]
        if cycles:
            groups.setdefault(line["group"], []).append(cycles)
    return {name: round(max(of) / min(of), 3) for name, of in groups.items() if len(of) > 1}


def _names(lines: Sequence[dict[str, Any]]) -> list[str]:
    return [line["kernel"] for line in lines]
