"""Figures as text: tables, names of loops, trip counts, times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from qor_gnn.design.region import Trips

_COPY = re.compile(r"'\d+\b")  # the mark that tells loops of one name apart


class Row(Protocol):
    """What the name of a loop's row is made of."""

    @property
    def loops(self) -> tuple[str, ...]:
        """Names, outermost first."""

    @property
    def level(self) -> int:
        """Regions around."""

    @property
    def copies(self) -> int:
        """How often it is there."""

    @property
    def unroll(self) -> int:
        """Copies of its body."""


def plain(text: str) -> str:
    """An access or a loop as the user wrote it."""
    return _COPY.sub("", text)


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], right: str) -> list[str]:
    """Lines of a table; ``right`` has an ``r`` for each column that is aligned to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = []
    for row in (heads, *rows):
        cells = zip(row, widths, right, strict=True)
        lines.append(
            "  ".join(c.rjust(w) if r == "r" else c.ljust(w) for c, w, r in cells).rstrip()
        )
    return lines


def loop_name(loop: Row) -> str:
    """The loops of a row, indented by what is around them."""
    copies = f" x{loop.copies}" if loop.copies > 1 else ""
    body = f" (unrolled by {loop.unroll})" if loop.unroll > 1 else ""
    return "  " * loop.level + ", ".join(map(plain, loop.loops)) + copies + body


def trips(count: Trips) -> str:
    """A trip count, or its range and average."""
    if count.minimum == count.maximum:
        return f"{count.average:,.0f}"
    return f"{count.minimum:,}..{count.maximum:,} ({count.average:,.1f})"


def seconds(value: float) -> str:
    """A time with the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:,.4g} {unit}"
    return f"{value / 1e-9:.4g} ns"
