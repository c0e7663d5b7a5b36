"""Rows as a table, JSON or CSV on standard output."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import click

from dse.views.console import colours, printable

SCHEMA_VERSION = 1
FORMATS = ("table", "json", "csv")
_LARGE = 10_000

Row = Mapping[str, Any]


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--format table|json|csv``."""
    return click.option(
        "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True,
        help="How to print the result.",
    )(command)  # fmt: skip


def rendered(command: str, columns: Sequence[str], rows: Sequence[Row], form: str) -> str:
    """The rows as text.

    JSON is one object: ``schema_version``, ``command`` and ``rows``, each with all its fields, null
    where a number is none. CSV and the table have the named columns; None is an empty cell, and so
    is what is no number in CSV, which has all digits that the table rounds off.
    """
    match form:
        case "json":
            head = {"schema_version": SCHEMA_VERSION, "command": command}
            return as_json({**head, "rows": [dict(row) for row in rows]})
        case "csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([_cell(row.get(c)) for c in columns] for row in rows)
            return text.getvalue()
        case _:
            return printable(table(columns, rows))


def as_json(data: Mapping[str, Any]) -> str:
    """A JSON text with a line for each value. JSON has no word for what is no finite number: null."""
    return json.dumps(_finite(data), indent=2, allow_nan=False) + "\n"


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {key: _finite(inside) for key, inside in value.items()}
        case list() | tuple():
            return [_finite(inside) for inside in value]
        case _:
            return value


def show(command: str, columns: Sequence[str], rows: Sequence[Row], form: str) -> None:
    """Print the rows on standard output, a table in colour on a terminal that has them."""
    text = rendered(command, columns, rows, form)
    if form == "table" and colours(sys.stdout):
        text = painted(text)
    click.echo(text, nl=False, color=True)


_COLOURS = {
    **dict.fromkeys(("ok",), "32"),
    **dict.fromkeys(("skipped", "missing"), "33"),
    **dict.fromkeys(("failed", "mismatch", "crash", "error", "vacuous", "broken"), "31"),
}
_STATUS = re.compile(rf"(?:^|(?<=  ))(?:{'|'.join(_COLOURS)})(?=  |$)", re.MULTILINE)


def painted(text: str) -> str:
    """A table with a bold head and its status words in colour."""
    head, _, body = text.partition("\n")
    body = _STATUS.sub(lambda m: f"\x1b[{_COLOURS[m[0]]}m{m[0]}\x1b[0m", body)
    return f"\x1b[1m{head}\x1b[0m\n{body}"


def table(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Aligned columns, numbers to the right; no trailing blanks."""
    cells = [_column([row.get(c) for row in rows]) for c in columns]
    heads = [c.replace("_", " ") for c in columns]
    widths = [max(map(len, (h, *column))) for h, column in zip(heads, cells, strict=True)]
    right = [bool(rows) and all(_is_number(r.get(c)) for r in rows) for c in columns]
    lines = [_line(heads, widths, right), "  ".join("-" * w for w in widths)]
    lines += [_line(row, widths, right) for row in zip(*cells, strict=True)]
    return "\n".join(lines) + "\n"


def _column(values: Sequence[object]) -> list[str]:
    """Cells; floats of one column have as many decimals as the largest needs for four digits, and
    where one whole number needs it, the thousands of all are apart."""
    floats = [abs(v) for v in values if isinstance(v, float) and math.isfinite(v)]
    if floats and not all(v.is_integer() for v in floats):
        exponent = math.floor(math.log10(max(floats)))
        decimals = max(0, 3 - max(0, exponent))
        return [f"{v:.{decimals}f}" if isinstance(v, float) else _plain(v) for v in values]
    if any(_is_whole(v) and abs(v) >= _LARGE for v in values):
        return [f"{v:,}" if _is_whole(v) else _plain(v) for v in values]
    return [_plain(v) for v in values]


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        cell.rjust(w) if r else cell.ljust(w)
        for cell, w, r in zip(cells, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()


def _cell(value: object) -> str:
    """A value in CSV: programs read it, so a float keeps what the table rounds off."""
    if isinstance(value, float):
        return f"{value:.12g}" if math.isfinite(value) else ""
    return _plain(value)


def _plain(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4g}"
        case list() | tuple():
            return " ".join(map(_plain, value))
        case _:
            return str(value)
