"""90% intervals of csynth's figures around an estimate, by the structures of the design.

A design with more of what estimates are less near on (`error_sources`) has wider ones; one with something that no label
of its tool has, the widest that there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil, exp, expm1, floor, log1p
from pathlib import Path

from backends.tables import described, fault, parsed
from dsl.errors.errors import ToolError
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.support.error_sources import CLASSES
from qor_gnn.tools.personality import Personality, table_of

FILE = "intervals.json"
FIGURES = ("latency", "lut", "ff", "dsp", "bram18")
SURE_PCT = 90
"""How many in a hundred figures of the tool the intervals are to hold."""

_ROUNDING = 1e-6  # what a logarithm and back may add to a count


@dataclass(frozen=True, slots=True)
class Widths:
    """Half of the width of intervals, in natural logarithms of a figure and 1.

    Attributes:
        widths: by name in `FIGURES`, one for each class of `error_sources.class_of`; none is narrower than the one before.
        unseen: the same of designs with something that no label has.
        handed_on: what recurrences of labelled designs are of (`qor_gnn.support.handed_on`).
    """

    widths: Mapping[str, tuple[float, ...]]
    unseen: Mapping[str, float]
    handed_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Intervals:
    """The intervals of a design.

    Attributes:
        ends: the lowest and the highest count, by name in `FIGURES`; figures that were not estimated are absent.
        level: the class of the design.
        sources: what it has of `error_sources.SOURCES`.
        unseen: why its intervals are the widest, for people: what no label has. Empty where labels have it all.
    """

    ends: Mapping[str, tuple[int, int]]
    level: int
    sources: tuple[str, ...]
    unseen: tuple[str, ...]


def widths_of(tool: Personality) -> Widths | None:
    """The widths for a tool; None where its figures need none (`Personality.is_open`).

    Raises:
        ToolError: W453, the table is not as it should be.
    """
    return None if tool.is_open else _read(table_of(tool.measured_as, FILE))


@cache
def _read(file: Path) -> Widths:
    data, where = described(file, {"widths", "unseen", "handed_on"})
    found = parsed(Widths, data, where)
    for name in FIGURES:
        row = found.widths.get(name, ())
        if len(row) != CLASSES or list(row) != sorted(row):
            raise _not_a_row(where, name)
        if found.unseen.get(name, -1.0) < row[-1]:
            raise fault(where, f"has a narrower interval of {name} for what is unseen")
    return found


def _not_a_row(where: str, name: str) -> ToolError:
    message = f"has no row of {CLASSES} growing widths of {name}"
    return fault(where, message, "`python -m qor_gnn.fit.intervals` writes the file")


def intervals(
    found: QorEstimate,
    widths: Widths,
    level: int,
    sources: tuple[str, ...],
    unseen: tuple[str, ...],
) -> Intervals:
    """The intervals of an estimate.

    Args:
        found: the estimate.
        widths: of its tool.
        level: the class of the design (`error_sources.class_of`).
        sources: what puts it there.
        unseen: what of the design no label has, for people.
    """
    figures = {
        "latency": found.latency.average,
        "lut": found.lut,
        "ff": found.ff,
        "dsp": found.dsp,
        "bram18": found.bram18,
    }
    ends = {}
    for name, value in figures.items():
        if value is not None:
            half = widths.unseen[name] if unseen else widths.widths[name][level]
            ends[name] = _around(value, half)
    if found.bram18_range is not None and "bram18" in ends:
        both = (*ends["bram18"], *found.bram18_range)  # what the ports of arrays leave open
        ends["bram18"] = min(both), max(both)
    return Intervals(ends, level, sources, unseen)


def _around(value: float, half: float) -> tuple[int, int]:
    """The whole numbers within so much of the logarithm of a figure."""
    middle = log1p(value)
    low, high = max(0.0, expm1(middle - half)), exp(middle + half) - 1
    return floor(low + _ROUNDING), ceil(high - _ROUNDING)
