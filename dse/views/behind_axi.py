"""Cycles of the open backend with memory outside as text, as data and as rows."""

from __future__ import annotations

from typing import Any

from backends.rtl.axi.simulate import LATENCY

__all__ = ["LATENCY", "as_data", "as_rows", "view"]

_PROVENANCE = "model"


def view(cycles: int) -> str:
    """A line."""
    return f"with memory outside: {cycles:,} cycles where it answers after {LATENCY}, predicted\n"


def as_data(cycles: int) -> dict[str, Any]:
    """The same as JSON."""
    return {"cycles": cycles, "latency": LATENCY, "provenance": _PROVENANCE}


def as_rows(cycles: int, design: dict[str, Any]) -> list[dict[str, Any]]:
    """A row beside those of `dse.views.estimate_data.as_rows`.

    Args:
        cycles: with memory.
        design: the row of the design.
    """
    kept = {name: design.get(name) for name in ("name", "tool", "device", "clock_ns")}
    return [{"row": "memory", **kept, "provenance": _PROVENANCE, "latency_avg": str(cycles)}]
