"""Rows of CSV files of labels and the numbers in them; what is none is refused by file and line."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dsl.errors.errors import InputError

_MOST = 1e15
"""Of a figure: cycles of days, and more than any device has of anything."""

_FIGURE = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\s*", re.ASCII)
_OTHERS = frozenset(";\t|")


def csv_rows(path: Path) -> Iterator[tuple[str, dict[Any, Any]]]:
    """The rows of a file, each with where it is: ``kernels.csv:3``.

    Cells that a row lacks are None, those that it has beyond the header a list under None, as
    `csv.DictReader` has it.

    Raises:
        InputError: W512: the file cannot be read; W511: it is no CSV file.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:  # spreadsheets mark UTF-8
            reader = csv.DictReader(text)
            try:
                _check_separator(path, reader.fieldnames or ())
                for row in reader:
                    yield f"{path}:{reader.line_num}", row
            except csv.Error as error:
                where = f"{path}:{reader.line_num + 1}"  # of those that were read
                raise InputError("W511", f"{where} is no row of a CSV file: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError("W512", f"cannot read {path}: {error}") from error
    except OSError as error:
        raise InputError("W512", f"cannot read {path}: {error.strerror}") from error


def _check_separator(path: Path, names: Sequence[str]) -> None:
    """Refuse what spreadsheets of countries with decimal commas write: one column, with the names of all in it."""
    if len(names) == 1 and (found := _OTHERS.intersection(names[0])):
        raise InputError(
            "W511",
            f"{path}:1 has one column, whose name is '{names[0][:40]}'",
            help=f"columns are separated by commas, not by {min(found)!r}, and figures have a decimal point",
        )


def cell(row: Mapping[Any, Any], name: str, where: str) -> str:
    """A cell as it is written.

    Raises:
        InputError: W511: the row has none of that name.
    """
    text = row.get(name)
    if isinstance(text, str):
        return text
    raise InputError("W511", f"{where}: no '{name}'", help="each row has a cell for each column")


def number(row: Mapping[Any, Any], name: str, where: str) -> float:
    """What a tool counted or measured: 0 or more, and no more than there can be.

    Raises:
        InputError: W511: the cell is not there, or holds something else.
    """
    text = cell(row, name, where)
    found = float(text) if _FIGURE.fullmatch(text) else math.nan
    if 0 <= found <= _MOST:
        return found
    raise InputError("W511", f"{where}: {name} is '{text[:40]}', which is no figure of a design")


def count(row: Mapping[Any, Any], name: str, where: str) -> int:
    """What a tool counted, as `number`; ``12.0`` is 12."""
    found = number(row, name, where)
    if found.is_integer():
        return int(found)
    raise InputError("W511", f"{where}: {name} is {found:g}, which is no whole number")
