"""Rows as a table, JSON or CSV on standard output."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

SCHEMA_VERSION = 1
FORMATS = ("table", "json", "csv")

Row = Mapping[str, Any]


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--format table|json|csv``."""
    return click.option(
        "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True,
        help="How to print the result.",
    )(command)  # fmt: skip


def rendered(command: str, columns: Sequence[str], rows: Sequence[Row], form: str) -> str:
    """The rows as text.

    JSON is one object: ``schema_version``, ``command`` and ``rows``, each with all its fields.
    CSV and the table have the named columns; None is an empty cell.
    """
    match form:
        case "json":
            head = {"schema_version": SCHEMA_VERSION, "command": command}
            return json.dumps({**head, "rows": [dict(row) for row in rows]}, indent=2) + "\n"
        case "csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([_plain(row.get(c)) for c in columns] for row in rows)
            return text.getvalue()
        case _:
            return table(columns, rows)


def table(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Aligned columns, numbers to the right; no trailing blanks."""
    cells = [[_plain(row.get(c)) for c in columns] for row in rows]
    heads = [c.replace("_", " ") for c in columns]
    widths = [max([len(h), *(len(r[n]) for r in cells)]) for n, h in enumerate(heads)]
    right = [bool(rows) and all(_is_number(r.get(c)) for r in rows) for c in columns]
    lines = [_line(heads, widths, right), "  ".join("-" * w for w in widths)]
    lines += [_line(row, widths, right) for row in cells]
    return "\n".join(lines) + "\n"


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        cell.rjust(w) if r else cell.ljust(w)
        for cell, w, r in zip(cells, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()


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
