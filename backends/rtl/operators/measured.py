"""What synthesis and routing measured of the operators, and how the delay model is scaled by it.

The data come from ``python -m backends.rtl.operators.characterise``: one row for each operator,
width and number of stages, with the versions of the tools.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from backends.rtl.graph import Kind

DATA = Path(__file__).parent / "data" / "ecp5-6.json"
OVERHEAD = 0.8
"""ns of a measured period that registers take: clock to output, set-up, and skew."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Factors on the delay model's time and LUTs; 1 where nothing was measured."""

    time: float = 1.0
    lut: float = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """One measured operator: ``model_ns`` is its longest stage in the model."""

    kind: str
    width: int
    depth: int
    period_ns: float
    model_ns: float
    lut: int
    model_lut: float
    ff: int
    dsp: int


ALIKE = {
    Kind.SUB: Kind.ADD,
    Kind.NE: Kind.EQ,
    Kind.LE: Kind.LT,
    Kind.OR: Kind.AND,
    Kind.XOR: Kind.AND,
    Kind.SHL: Kind.SHR,
    Kind.FLOORDIV: Kind.DIV,
    Kind.REM: Kind.DIV,
    Kind.FSUB: Kind.FADD,
    Kind.FNE: Kind.FEQ,
    Kind.FLT: Kind.FLE,
}
"""Kinds with the hardware of another, whose measurements hold for both."""


@cache
def rows() -> tuple[Row, ...]:
    """All measurements; none where the data were not made yet."""
    if not DATA.exists():
        return ()
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    names = found["columns"]
    return tuple(Row(**dict(zip(names, values, strict=True))) for values in found["rows"])


@cache
def scale_of(kind: Kind) -> Scale:
    """The factors of a kind of operation.

    Time is that below which nine of ten measurements lie, since a design is as fast as its slowest
    operator; LUTs are the median.
    """
    measured = ALIKE.get(kind, kind)
    mine = [r for r in rows() if r.kind == measured.value]
    if not mine:
        return Scale()
    times = sorted((r.period_ns - OVERHEAD) / r.model_ns for r in mine if r.model_ns > 0)
    sizes = [r.lut / r.model_lut for r in mine if r.model_lut > 0]
    high = times[min(len(times) - 1, round(0.9 * (len(times) - 1)))] if times else 1.0
    return Scale(high, statistics.median(sizes) if sizes else 1.0)
