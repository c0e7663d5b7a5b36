"""RTL emulation next to csynth: the wait of a line of 64 bytes, fitted to designs of other frameworks than it is scored on."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

_STEPS = 200
"""Of a hundredth of a cycle, that are tried."""
_FAR = 12.0
"""Percent from which on an error counts no more in the fit: csynth does not see what makes such designs slow."""


@dataclass(frozen=True, slots=True)
class Emulated:
    """A design with both figures.

    Attributes:
        design: its name.
        framework: that made it.
        csynth: the most cycles of its report.
        rtl: cycles of RTL emulation.
        lines: of 64 bytes in its longest read and its longest write.
    """

    design: str
    framework: str
    csynth: float
    rtl: float
    lines: float

    def error(self, stall: float) -> float:
        """Percent by which csynth and the waits of all lines miss the RTL."""
        return 100 * abs(self.csynth + stall * self.lines - self.rtl) / self.rtl


def designs(data: Path) -> list[Emulated]:
    """Those of prometheus-u55c that have both."""
    longest: dict[tuple[str, str], float] = defaultdict(float)
    for row in _table(data / "bursts.csv"):
        if row["table"] == "inferred" and row["length"].isdigit():
            key = row["design"], row["direction"]
            longest[key] = max(longest[key], int(row["length"]) * int(row["width"]) / 512)
    return [
        Emulated(
            name, row["framework"], float(row["csynth_latency_max"]), float(row["rtl_cycles_300mhz"]),
            longest[name, "read"] + longest[name, "write"],
        )
        for row in _table(data / "designs.csv")
        if row["rtl_cycles_300mhz"] and row["csynth_latency_max"] and (name := row["design"])
    ]  # fmt: skip


def fitted(known: Sequence[Emulated]) -> float:
    """The wait with the least median error, and the least of those that csynth explains."""

    def loss(stall: float) -> float:
        errors = [one.error(stall) for one in known]
        return median(errors) + sum(min(e, _FAR) for e in errors) / len(errors)

    return min((n / 100 for n in range(_STEPS)), key=loss)


def left_out(known: Sequence[Emulated]) -> Iterator[tuple[Emulated, float]]:
    """Each design, and the percent by which it is missed where its framework is left out of the fit."""
    for framework in dict.fromkeys(one.framework for one in known):
        stall = fitted([one for one in known if one.framework != framework])
        yield from ((one, one.error(stall)) for one in known if one.framework == framework)


def _table(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8") as lines:
        yield from csv.DictReader(lines)
