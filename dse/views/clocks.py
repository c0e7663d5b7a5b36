"""A search over clocks for people: a line for each period, the fastest in time first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dse.run.sweeps.sweep import Reached
from dse.views import routed as after_routing
from qor_gnn.result.text import seconds

_COLUMNS = ("clock ns", "period ns", "cycles", "time", "dsp")
_FIELDS = ("clock_ns", "period_ns", "met", "latency", "seconds", "dsp", "lut", "ff", "bram18")
_KEY = 12  # digits of a design's key


def columns(form: str, *, routed: bool) -> tuple[str, ...]:
    """Of the table.

    Args:
        form: of the output.
        routed: with what is expected after placement and routing.
    """
    more = after_routing.columns(form) if routed else ()
    if form == "table":
        return (*_COLUMNS, *(("lut", *more) if routed else ()), "design")
    return (*_FIELDS, *more, "design", "run")


def rows(found: Sequence[Reached]) -> list[dict[str, Any]]:
    """The fastest design at each period; without figures where there is none."""
    return [_row(one) for one in found]


def _row(one: Reached) -> dict[str, Any]:
    row: dict[str, Any] = {"clock_ns": one.clock, "run": str(one.run)}
    if one.design is None:
        return {**dict.fromkeys(columns("json", routed=True)), **row, "routed": None}
    result = one.design.result
    return {
        **row,
        "period_ns": one.period,
        "met": one.period <= one.clock,
        "latency": round(result.latency or 0),
        "seconds": one.seconds,
        **result.resources,
        "routed": None if one.routed is None else after_routing.as_data(one.routed),
        "design": one.design.key,
        "provenance": result.provenance,
        "tool": result.tool,
    }


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row of CSV."""
    return {**row, **after_routing.flat(row["routed"])}


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
        "lut": row["lut"],
        **after_routing.for_people(row["routed"]),
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
