"""Numbers of the page as people read them: three digits, thousands apart, with their unit."""

from __future__ import annotations

from typing import Any

LABELS = {
    "dsp": "DSP",
    "lut": "LUT",
    "ff": "FF",
    "bram18": "BRAM18",
    "uram": "URAM",
    "latency": "latency",
}
NONE = "–"  # where there is no figure


def label(name: str) -> str:
    """A resource's name as people write it."""
    return LABELS.get(name, name)


def count(value: Any) -> str:
    """A whole number with its thousands apart; a dash for what is none."""
    return f"{value:,}" if isinstance(value, int) else NONE


def cycles(value: float) -> str:
    """A latency with its thousands apart."""
    return f"{value:,.0f}"


def duration(cycles: float, period: float) -> str:
    """How long so many cycles of a period in ns are."""
    seconds = cycles * period * 1e-9
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:,.4g} {unit}"
    return f"{seconds / 1e-9:,.4g} ns"


def times(ratio: float) -> str:
    """How many times as much, to three digits."""
    if ratio >= 100:
        return f"{ratio:,.0f}×"
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.1f}×"


def percent(share: float) -> str:
    """A share as percent."""
    return f"{100 * share:.0f}%" if share >= 0.1 or share == 0 else f"{100 * share:.1f}%"
