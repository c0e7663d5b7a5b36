"""The small building blocks of the page: tables, bars, numbers with their units."""

from __future__ import annotations

from collections.abc import Sequence

from dse.report.markup import Child, Html, el

LABELS = {"dsp": "DSP", "lut": "LUT", "ff": "FF", "bram18": "BRAM18", "latency": "latency"}


def label(name: str) -> str:
    """A resource's name as people write it."""
    return LABELS.get(name, name)


def table(
    heads: Sequence[str], rows: Sequence[Sequence[Child]], numbers: str, caption: str, **more: str
) -> Html:
    """A table in a box that scrolls by itself where it is too wide.

    Args:
        heads: of the columns.
        rows: of cells.
        numbers: for each column ``r`` for numbers, ``l`` for words.
        caption: what it is a table of, for those who do not see it.
        more: attributes of the table.
    """
    kinds: list[str | None] = ["number" if kind == "r" else None for kind in numbers]
    if numbers.endswith(("rl", "rll")):
        kinds[-1] = "stretch"  # words at the end take the room that numbers do not need
    head = [el("th", h, scope="col", class_=kind) for h, kind in zip(heads, kinds, strict=True)]
    body = [
        el("tr", [el("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)])
        for row in rows
    ]
    inside = el(
        "table",
        el("caption", caption, class_="unseen"),
        el("thead", el("tr", head)),
        el("tbody", body),
        **more,
    )
    return el("div", inside, class_="wide", tabindex=0, role="region", aria_label=caption)


def pairs(rows: Sequence[tuple[str, Child]]) -> Html:
    """A list of names with their values."""
    found = [el("div", el("dt", name), el("dd", value)) for name, value in rows]
    return el("dl", found, class_="pairs")


def bar(share: float, text: str) -> Html:
    """A share of a whole as a bar; more than the whole is full, and marked."""
    width = f"{100 * min(1.0, max(0.0, share)):.2f}"
    kind = "bar over" if share > 1 else "bar"
    return el(
        "svg",
        el("rect", width=100, height=8, class_="track"),
        el("rect", width=width, height=8, class_="fill"),
        class_=kind,
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        role="img",
        aria_label=text,
    )


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
