"""Reader of the labelled designs in ``hlsfactory-u200``: 32 kernels, Vitis HLS 2025.1, xcu200, 4 ns.

The folder is evaluation and training data and stays outside the package (CC BY-SA 4.0, see its
README); ``tests/data`` has an excerpt of it. A kernel becomes a program in `qor_gnn.fit.labelled.u200_program`, a row's directives in
`qor_gnn.fit.labelled.u200_design`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dsl.errors.errors import InputError
from qor_gnn.fit.labelled.rows import cell, count, csv_rows

TOOL = "Vitis HLS 2025.1"
DEVICE = "xcu200-fsgd2104-2-e"
CLOCK_NS = 4.0

CAPS: Mapping[str, int] = {
    "lut": 886_680,
    "ff": 1_773_360,
    "dsp": 5_130,
    "bram18": 3_240,
    "uram": 720,
}
"""What the data's authors let a design have: three quarters of the device."""

_COLUMNS = ("latency", "lut", "ff", "dsp", "bram18", "uram")


@dataclass(frozen=True, slots=True)
class Labels:
    """What csynth reports: worst-case cycles of the top function, and estimated resources.

    ``bram18`` counts a bank deeper than 8192 words as 8192 deep.
    """

    latency: int
    lut: int
    ff: int
    dsp: int
    bram18: int
    uram: int
    provenance: Literal["csynth"] = "csynth"
    tool: str = TOOL
    device: str = DEVICE
    clock_ns: float = CLOCK_NS


@dataclass(frozen=True, slots=True)
class Row:
    """A design: a kernel, the directives as the file writes them, its labels, and its line."""

    kernel: str
    directives: str
    labels: Labels
    where: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NoResult:
    """A point without labels; ``no_result`` is a time limit or a failure of the tool."""

    kernel: str
    directives: str
    reason: Literal["no_result", "undef_latency"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a directive: the values that it may take, as the file has them."""

    loop: str
    directive: Literal["pipeline", "unroll"]
    options: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """A kernel as ``nests.json`` describes it.

    ``data`` is the JSON object; nothing but `qor_gnn.fit.labelled.u200_program` looks into it.
    """

    kernel: str
    family: str
    group: str
    suite: str
    irregular: tuple[str, ...]
    slots: tuple[Slot, ...]
    data: Mapping[str, Any] = field(compare=False, repr=False)


def designs(folder: Path, name: Literal["kernels", "overcap", "extra"] = "kernels") -> list[Row]:
    """The labelled designs of one file, in its order.

    Raises:
        InputError: W512 the file cannot be read, W511 a row is not what it should be.
    """
    return [_row(entry, where) for where, entry in _entries(folder / f"{name}.csv")]


def without_labels(folder: Path) -> list[NoResult]:
    """The points of ``noresult.csv``.

    Raises:
        InputError: W512 the file cannot be read, W511 a row is not what it should be.
    """
    found = []
    for where, entry in _entries(folder / "noresult.csv"):
        reason = cell(entry, "reason", where)
        if reason != "no_result" and reason != "undef_latency":
            raise InputError("W511", f"{where}: no reason is called '{reason}'")
        kernel, directives = cell(entry, "kernel", where), cell(entry, "directives", where)
        found.append(NoResult(kernel, directives, reason))  # type: ignore[arg-type]
    return found


def kernels(folder: Path) -> dict[str, Facts]:
    """The kernels of ``nests.json`` by name.

    Raises:
        InputError: W512 the file cannot be read, W511 it is not what it should be.
    """
    path = folder / "nests.json"
    try:
        data = json.loads(_text(path))
        return {name: _facts(name, entry) for name, entry in data.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise InputError("W511", f"{path} does not describe kernels: {e!r}") from e


def _facts(name: str, entry: Mapping[str, Any]) -> Facts:
    slots = tuple(Slot(s["loop"], s["directive"], tuple(s["options"])) for s in entry["slots"])
    plain = (entry["family"], entry["group"], entry["suite"], tuple(entry["irregular"]))
    return Facts(name, *plain, slots, entry)


def _row(entry: Mapping[str, str], where: str) -> Row:
    latency, lut, ff, dsp, bram18, uram = (count(entry, name, where) for name in _COLUMNS)
    kernel, directives = (cell(entry, name, where) for name in ("kernel", "directives"))
    return Row(kernel, directives, Labels(latency, lut, ff, dsp, bram18, uram), where)


def _entries(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for where, entry in csv_rows(path):
        if None in entry or None in entry.values():
            raise InputError("W511", f"{where}: a row of another length")
        yield where, entry


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise InputError("W512", f"cannot read {path}: {e}") from e
