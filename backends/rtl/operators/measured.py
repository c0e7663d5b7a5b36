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
OVERHEAD = 1.0
"""ns of a measured period that registers take; scheduling leaves as much of each cycle."""


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
def scale_of(kind: Kind, width: int, *, pipelined: bool) -> Scale:
    """The factors of a kind of operation.

    Without stages they are interpolated between the measured widths. With stages, time is that
    below which nine of ten measurements lie, since a design is as fast as its slowest operator,
    and LUTs are the median.

    Args:
        kind: The operation.
        width: Of its widest operand.
        pipelined: Whether it has stages.
    """
    like = ALIKE.get(kind, kind).value
    of_kind = [r for r in rows() if r.kind == like and r.model_ns > 0]
    mine = [r for r in of_kind if (r.depth > 0) == pipelined] or of_kind
    if not mine:
        return Scale()
    times = [(r.width, max(0.0, r.period_ns - OVERHEAD) / r.model_ns) for r in mine]
    # A product of one DSP block has no LUTs in the model.
    sizes = [(r.width, r.lut / r.model_lut) for r in mine if r.model_lut > 0] or [(width, 1.0)]
    if mine[0].depth == 0:
        return Scale(_between(times, width), _between(sizes, width))
    high = sorted(t for _, t in times)
    return Scale(high[round(0.9 * (len(high) - 1))], statistics.median(z for _, z in sizes))


def _between(points: list[tuple[int, float]], width: int) -> float:
    """Linear between the neighbouring widths, constant beyond the last ones."""
    points = sorted(points)
    below = [p for p in points if p[0] <= width] or points[:1]
    above = [p for p in points if p[0] >= width] or points[-1:]
    (x0, y0), (x1, y1) = below[-1], above[0]
    return y0 if x0 == x1 else y0 + (y1 - y0) * (width - x0) / (x1 - x0)
