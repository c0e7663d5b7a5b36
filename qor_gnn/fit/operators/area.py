"""Slices, flip-flops and LUTs of floating point operators out of facts, by number of stages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from qor_gnn.fit.operators.rows import OperatorRow, float_core

AREAS = {"zynq7": "series7", "virtexuplus": "virtexuplus"}
"""Families whose operators have their own number of LUTs; all others are alike: ``ultrascale``."""

_NOT_COUNTED = (
    "fdiv", "ddiv", "fsqrt", "dsqrt", "fcmp", "dcmp", "fpext", "fptrunc", "sitofp", "sitodp",
)  # fmt: skip

Areas = dict[tuple[str, str, int], tuple[int, int, int]]
"""DSP, FF and LUT by core, kind of area and stages."""


def area_of(timing: str) -> str:
    """The kind of area of a timing class."""
    return AREAS.get(timing.partition("-")[0], "ultrascale")


def areas(rows: Iterable[OperatorRow]) -> Areas:
    """What most projects print for instances of each core.

    Of cores without DSP slices Vitis HLS prints no flip-flops and no LUTs; Vivado HLS did.
    """
    found: dict[tuple[str, str, int], Counter[tuple[int, int, int]]] = defaultdict(Counter)
    for row in rows:
        core = float_core(row) if row.source == "inst" else None
        if core is None or row.latency is None:
            continue
        if row.dsp is None or row.ff is None or row.lut is None:
            continue
        if not row.vitis and (core in _NOT_COUNTED or row.version < "2019.1"):
            continue
        found[core, area_of(row.timing), row.latency + 1][row.dsp, row.ff, row.lut] += 1
    return {key: max(seen, key=lambda a: (seen[a], a)) for key, seen in sorted(found.items())}
