"""What changed between two recordings, for somebody who is to judge whether it was meant to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.qor.figures.tables import RowName, differences

LARGEST = 20
SHOWN = 10
"""At most so many changes, and so many rows that were added or removed, are shown."""


@dataclass(frozen=True, slots=True)
class Change:
    """A figure of a row that differs; ``figure`` of a loop row is ``LOOPS:KIND NAME``."""

    row: RowName
    figure: str
    old: str
    new: str

    @property
    def kind(self) -> str:
        """The figure without the loops that it is of."""
        loops, _, name = self.figure.rpartition(" ")
        return f"loop {name}" if loops else name

    @property
    def relative(self) -> float:
        """By how much it grew, of its old value; 0 where these are no numbers."""
        try:
            old, new = (float(value.partition("/")[0]) for value in (self.old, self.new))
        except ValueError:
            return 0.0
        return (new - old) / abs(old) if old else float(new > 0) - float(new < 0)

    def __str__(self) -> str:
        grown = f" ({self.relative:+.2%})" if self.relative else ""
        return f"{' '.join(self.row)}: {self.figure} {self.old} -> {self.new}{grown}"


def changes(old: Mapping[RowName, str], new: Mapping[RowName, str]) -> list[Change]:
    """The figures that differ in rows that both have, in the order of the new ones."""
    return [
        Change(row, *found)
        for row, text in new.items()
        if row in old and old[row] != text
        for found in differences(old[row], text)
    ]


def summary(old: Mapping[RowName, str], new: Mapping[RowName, str]) -> list[str]:
    """Lines that say what changed; none where nothing did."""
    found = changes(old, new)
    added = [row for row in new if row not in old]
    removed = [row for row in old if row not in new]
    if not (found or added or removed):
        return []
    rows = len({change.row for change in found})
    counts = f"{rows} changed, {len(added)} added, {len(removed)} removed"
    lines = [f"{len(new)} rows: {counts}"]
    if found:
        lines += ["", "rows changed", *_table(found), *_largest(found)]
    for title, several in (("added", added), ("removed", removed)):
        lines += _named(title, several)
    return lines


def _table(found: Sequence[Change]) -> Iterator[str]:
    """How many rows changed, by figure and personality."""
    rows = {(change.kind, change.row) for change in found}
    cells = Counter((figure, tool) for figure, (_, tool) in rows)
    figures = sorted({figure for figure, _ in cells}, key=lambda f: (f.startswith("loop "), f))
    tools = sorted({tool for _, tool in cells})
    table = [["", *tools]]
    table += [[figure, *(str(cells[figure, tool]) for tool in tools)] for figure in figures]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *others in table:
        shown = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        yield "  ".join(["", first.ljust(widths[0]), *shown]).rstrip()


def _largest(found: Sequence[Change]) -> Iterator[str]:
    """The largest relative changes."""
    relative = [c for c in found if c.relative]
    largest = sorted(relative, key=lambda c: (-abs(c.relative), c.row, c.figure))[:LARGEST]
    if largest:
        yield ""
        yield f"largest relative changes, {len(largest)} of {len(relative)}"
        yield from (f"  {change}" for change in largest)


def _named(title: str, rows: Sequence[RowName]) -> Iterator[str]:
    if rows:
        yield ""
        yield f"{title}, {len(rows)} rows"
        yield from (f"  {' '.join(row)}" for row in rows[:SHOWN])
        if len(rows) > SHOWN:
            yield "  …"
