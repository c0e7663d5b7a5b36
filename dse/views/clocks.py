"""A search over clocks for people: a line for each period, the fastest in time first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dse.run.sweep import Reached
from qor_gnn.result.text import seconds

COLUMNS = ("clock ns", "period ns", "cycles", "time", "dsp", "design")
FIELDS = (
    *("clock_ns", "period_ns", "met", "latency", "seconds", "dsp", "lut", "ff", "bram18"),
    *("design", "run"),
)
_KEY = 12  # digits of a design's key


def rows(found: Sequence[Reached]) -> list[dict[str, Any]]:
    """The fastest design at each period; without figures where there is none."""
    return [_row(one) for one in found]


def _row(one: Reached) -> dict[str, Any]:
    row: dict[str, Any] = {"clock_ns": one.clock, "run": str(one.run)}
    if one.design is None:
        return {**dict.fromkeys(FIELDS), **row}
    result = one.design.result
    return {
        **row,
        "period_ns": one.period,
        "met": one.period <= one.clock,
        "latency": round(result.latency or 0),
        "seconds": one.seconds,
        **result.resources,
        "design": one.design.key,
        "provenance": result.provenance,
        "tool": result.tool,
    }


def for_people(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the table shows it."""
    if row["design"] is None:
        return {"clock ns": f"{row['clock_ns']:g}", "design": "none within the limits"}
    return {
        "clock ns": f"{row['clock_ns']:g}",
        "period ns": f"{row['period_ns']:.2f}{'' if row['met'] else ' missed'}",
        "cycles": f"{row['latency']:,}",
        "time": seconds(row["seconds"]),
        "dsp": f"{row['dsp']:,}",
        "design": row["design"][:_KEY],
    }


def summary(folder: Path, found: Sequence[Reached]) -> Iterator[str]:
    """What was found, and how to go on."""
    best = next(iter(found), None)
    if best is None or best.design is None:
        yield "no design keeps to the limits at any of these clocks"
        return
    yield f"fastest in time: {seconds(best.seconds)} at {best.period:g} ns, in {best.run}"
    yield f"weft export {folder} --best --out DIR writes it as a Vitis HLS project"
