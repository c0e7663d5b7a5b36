"""Figures after placement and routing as text, as data and as rows, next to csynth's view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from backends.devices import Device
from dse.estimates.routed import ALREADY, PROVENANCE, source
from dse.views.estimate import LABELS, Style
from dse.views.estimate_data import exact
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.result.text import aligned
from qor_gnn.routed.laws import PERIOD, QUANTITIES
from qor_gnn.routed.predict import SURE_PCT, Figure, Routed, digits


def view(answer: QorEstimate, found: Routed | None, device: Device, style: Style) -> str:
    """A table of the figures with their intervals, next to csynth's and what the device has.

    Args:
        answer: csynth's view.
        found: the figures; None where they are those of the answer.
        device: that the design is for.
        style: with or without colours.
    """
    if found is None:
        return f"routed: {ALREADY}\n"
    heads = ("routed", "value", f"{SURE_PCT}% interval", "csynth", "available", "share")
    rows = [
        _row(name, one, answer.clock_ns, None)
        if name == PERIOD
        else _row(name, one, getattr(answer, name), getattr(device, name))
        for name, one in found.figures.items()
    ]
    lines = aligned(heads, rows, "lrrrrl")
    marks = [f"extrapolated: {text}" for text in found.extrapolated]
    return "\n".join([f"routed: {source()}", *marks, "", style.head(lines[0]), *lines[1:]]) + "\n"


def _row(name: str, one: Figure, csynth: float, available: int | None) -> tuple[str, ...]:
    label = "period ns" if name == PERIOD else LABELS[name]
    interval = f"{digits(one.low)} .. {digits(one.high)}"
    share = f"{100 * one.value / available:.1f}%" if available else ""
    if available is not None and one.value > available:
        share += " too many"
    has = "" if available is None else f"{available:,}"
    return (label, digits(one.value), interval, digits(csynth), has, share)


def as_data(found: Routed | None) -> dict[str, Any]:
    """The same as JSON; where there are no figures, a note says why."""
    if found is None:
        return {"provenance": None, "figures": {}, "extrapolated": [], "notes": [ALREADY]}
    return {
        "provenance": PROVENANCE,
        "interval_pct": SURE_PCT,
        "extrapolated": list(found.extrapolated),
        "notes": [source()],
        "figures": {name: asdict(one) for name, one in found.figures.items()},
    }


def as_rows(found: Routed | None, design: dict[str, Any]) -> list[dict[str, Any]]:
    """Three rows beside those of `dse.views.estimate_data.as_rows`: values, and both ends of the intervals.

    Args:
        found: the figures; None for no rows.
        design: the row of the design, as the model has it.
    """
    if found is None:
        return []
    kept = {name: design.get(name) for name in ("name", "tool", "device", "clock_ns")}
    return [
        {
            "row": row,
            **kept,
            "provenance": PROVENANCE,
            **{name: exact(getattr(one, end)) for name, one in found.figures.items()},
        }
        for row, end in (("routed", "value"), ("routed_low", "low"), ("routed_high", "high"))
    ]


def columns(form: str) -> tuple[str, ...]:
    """Of a table of designs: a program gets the ends of intervals as columns of their own."""
    ends = ("",) if form == "table" else ("", "_low", "_high")
    return (*(f"{name}_routed{end}" for name in QUANTITIES for end in ends), "extrapolated")


def flat(found: Mapping[str, Any] | None) -> dict[str, Any]:
    """What `as_data` has, for these columns of a program."""
    if found is None:
        return {}
    figures = {
        f"{name}_routed{end}": one[of]
        for name, one in found["figures"].items()
        for end, of in (("", "value"), ("_low", "low"), ("_high", "high"))
    }
    return {**figures, "extrapolated": "; ".join(found["extrapolated"])}


def for_people(found: Mapping[str, Any] | None) -> dict[str, Any]:
    """What `as_data` has, for the columns of a table."""
    if found is None:
        return {}
    figures = {f"{name}_routed": str(Figure(**one)) for name, one in found["figures"].items()}
    return {**figures, "extrapolated": bool(found["extrapolated"])}
