"""Lines of a dataset of `weft label` as examples: what routing made of what the open backend made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from dse.estimation import estimated, setting
from dse.labels.dataset import Dataset
from dse.labels.variants import Subject
from dsl.errors import InputError, LanguageError, ScheduleError, ToolError
from dsl.kernel import Kernel
from dsl.schedule import Schedule
from qor_gnn.data.rows import cell, number
from qor_gnn.gnn.convert import Origin, Source, example
from qor_gnn.gnn.examples import Example
from qor_gnn.open_personality import NAME as TOOL
from qor_gnn.personality import personality

READ_LATENCY = "1"
"""Cycles of a memory that the estimate is of."""

Row = tuple[tuple[str, str], ...]


def source(
    folder: Path, root: Path = Path(), remark: Callable[[str], None] = lambda _: None
) -> Source:
    """The routed designs of a dataset.

    The kernels are loaded, which runs their files: only files below ``root`` are.

    Args:
        folder: of the dataset.
        root: what the dataset's file names are relative to.
        remark: is told what is left out, and why.

    Raises:
        InputError: W532: the folder has no such lines; W510, W511, W512: the file or a line of it
            is not what it should be.
    """
    lines = list(Dataset(folder).placed())
    rows = [_row(where, line) for where, line in lines if usable(line, where)]
    if len(rows) < len(lines):
        remark(f"{folder}: {len(lines) - len(rows)} of {len(lines)} designs have no routed figures")
    if not rows:
        raise InputError("W532", f"{folder} does not hold the labels of {TOOL}")
    rows.sort(key=lambda row: (dict(row)["file"], dict(row)["size"], dict(row)["dtype"]))
    return Source("open", root.resolve(), tuple(rows), _make)


def usable(line: dict[str, str], where: str = "") -> bool:
    """It was routed, for the clock and the memories that the estimate is of.

    Args:
        line: of a dataset.
        where: it is, for messages.

    Raises:
        InputError: W511: its clock is no number.
    """
    if line.get("provenance") != "post-route" or not line.get("fmax_mhz"):
        return False
    clock = number(line, "clock_ns", where) if line.get("clock_ns") else 0.0
    return line.get("read_latency") == READ_LATENCY and clock == personality(TOOL).clock_ns


def _row(where: str, line: dict[str, str]) -> Row:
    names = ("id", "file", "kernel", "dtype", "size", "schedule")
    figures = ("cycles", "lut", "ff", "dsp", "bram", "fmax_mhz")
    for name in figures:
        if number(line, name, where) <= 0 and name == "fmax_mhz":
            raise InputError("W511", f"{where}: fmax_mhz is 0, which is no figure of a design")
    Schedule.from_json(cell(line, "schedule", where), where)
    return tuple((name, cell(line, name, where)) for name in (*names, *figures))


def _make(root: Path, rows: Sequence[Row]) -> list[Example]:
    return [_example(root, dict(row)) for row in rows]


def _example(root: Path, row: dict[str, str]) -> Example:
    program = kernel_of(root, row["file"], row["kernel"], row["size"], row["dtype"]).program
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


@cache
def kernel_of(root: Path, file: str, kernel: str, size: str, dtype: str) -> Kernel:
    """The kernel of a line.

    Raises:
        WeftError: W511, its file is not below ``root``; there is no such kernel, size or type.
    """
    path = (root / file).resolve()
    if not path.is_relative_to(root):
        raise InputError("W511", f"a dataset names a kernel of {file}, which is not below {root}")
    return Subject(str(path), kernel, size, dtype).load()
