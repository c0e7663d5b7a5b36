"""Lines of a dataset of `weft label` as examples: what routing made of what the open backend made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from dse.estimates.estimation import estimated, setting
from dse.kernels.target import sized
from dse.labels.dataset import Dataset, Named
from dse.labels.trusted import Trusted
from dse.labels.variants import retyped
from dsl.errors.errors import InputError, LanguageError, ScheduleError, ToolError
from dsl.schedules.schedule import Schedule
from dsl.stored.read import program_of_data, program_of_json
from dsl.stored.write import program_json
from qor_gnn.fit.labelled.rows import cell, number
from qor_gnn.gnn.examples.convert import Origin, Source, example
from qor_gnn.gnn.examples.example import Example
from qor_gnn.tools.open_ecp5.write import NAME as TOOL
from qor_gnn.tools.personality import personality

READ_LATENCY = "1"
"""Cycles of a memory that the estimate is of."""

Row = tuple[tuple[str, str], ...]


def source(
    folder: Path, trusted: Trusted, remark: Callable[[str], None] = lambda _: None
) -> Source:
    """The routed designs of a dataset.

    Args:
        folder: of the dataset, which holds the programs.
        trusted: what the user named of kernels, for datasets of older versions.
        remark: is told what is left out, and why.

    Raises:
        InputError: W532: the folder has no such lines; W510, W511, W512: the file or a line of it
            is not what it should be; W546: a program is none; W547: there is none.
    """
    lines = list(Dataset(folder).placed())
    left_out = Counter(reason for where, line in lines if (reason := unusable(line, where)))
    rows = [_row(where, line) for where, line in lines if not unusable(line, where)]
    why = ", ".join(f"{count} {reason}" for reason, count in left_out.most_common())
    if left_out:
        remark(f"{folder}: {left_out.total()} of {len(lines)} designs are left out: {why}")
    if not rows:
        raise InputError(
            "W532",
            f"{folder} does not hold the labels of {TOOL}"
            + (f": of {len(lines)} designs {why}" if lines else ""),
            help="weft label makes them" if not lines else None,
        )
    rows.sort(key=lambda row: (dict(row)["file"], dict(row)["size"], dict(row)["dtype"]))
    programs = _Programs(folder, Dataset(folder).programs(), trusted)
    return Source("open", folder, tuple((*row, programs.of(dict(row))) for row in rows), _make)


@dataclass(slots=True)
class _Programs:
    """The programs of lines, each found once, as text that goes to other processes."""

    folder: Path
    stored: Mapping[Named, Mapping[str, Any]]
    trusted: Trusted
    known: dict[Named, tuple[str, str]] = field(default_factory=dict)

    def of(self, row: Mapping[str, str]) -> tuple[str, str]:
        """A further cell of the line: its program."""
        named = (row["file"], row["kernel"], row["size"], row["dtype"])
        if named not in self.known:
            self.known[named] = ("program", self._found(named))
        return self.known[named]

    def _found(self, named: Named) -> str:
        file, name, size, dtype = named
        where = f"{self.folder}: the program of {name} {size} {dtype}".rstrip()
        if name not in self.trusted.kernels and named in self.stored:
            data = self.stored[named]
            program_of_data(data, where)
            return json.dumps(data)
        kernel = self.trusted.kernel(name, file, f"a design of {self.folder}")
        return program_json(retyped(sized(kernel, size), dtype).program, places=False)


def unusable(line: dict[str, str], where: str = "") -> str:
    """Why a line is no label of the estimate's clock and memories; empty where it is one.

    Args:
        line: of a dataset.
        where: it is, for messages.

    Raises:
        InputError: W511: its clock is no number.
    """
    if line.get("provenance") != "post-route" or not line.get("fmax_mhz"):
        return "have no routed figures"
    wanted = personality(TOOL).clock_ns
    if not line.get("clock_ns") or number(line, "clock_ns", where) != wanted:
        return f"are for another clock than {wanted:g} ns"
    if line.get("read_latency") != READ_LATENCY:
        return f"are for memories of another read latency than {READ_LATENCY}"
    return ""


def _row(where: str, line: dict[str, str]) -> Row:
    names = ("id", "file", "kernel", "dtype", "size", "schedule")
    figures = ("cycles", "lut", "ff", "dsp", "bram", "fmax_mhz")
    for name in figures:
        if not number(line, name, where) and name in ("cycles", "fmax_mhz"):
            raise InputError("W511", f"{where}: {name} is 0, which is no figure of a design")
    Schedule.from_json(cell(line, "schedule", where), where)
    return tuple((name, cell(line, name, where)) for name in (*names, *figures))


def _make(folder: Path, rows: Sequence[Row]) -> list[Example]:
    return [_example(dict(row)) for row in rows]


def _example(row: dict[str, str]) -> Example:
    program = program_of_json(row["program"], f"the program of {row['kernel']}")
    try:
        found = estimated(program, Schedule.from_json(row["schedule"]), setting(TOOL))
    except (ScheduleError, LanguageError, ToolError) as error:
        raise error.at(f"the design {row['id']} of {row['kernel']}") from error
    label = {
        "latency": float(row["cycles"]),
        "lut": float(row["lut"]),
        "ff": float(row["ff"]),
        "dsp": float(row["dsp"]),
        "bram18": float(row["bram"]),
        "period_ns": 1000 / float(row["fmax_mhz"]),
    }
    family = PurePosixPath(row["file"]).parent.name
    name = f"{row['kernel']} {row['dtype']} {row['size']} {row['id']}"
    origin = Origin(row["kernel"], family, name=name)
    return example(found.regions, found.regions, found.answer, label, origin)
