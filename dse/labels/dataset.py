"""The dataset: ``designs.csv``, a line a design, ``programs.jsonl``, the programs that they are of, and
``manifest.json`` with how it was made.

Lines are appended whole and flushed to the disk, so that whatever ends the process, at most the
designs under way are lost; what is there already is not made again.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dse.inside import inside, read_text
from dse.run.folder.directory import write_whole, writing
from dsl.errors.errors import InputError
from dsl.programs.program import Program
from dsl.stored.read import json_of, refuse
from dsl.stored.write import program_data
from qor_gnn.fit.labelled.rows import cell, csv_rows

_AGAIN = "the same command goes on"
SCHEMA_VERSION = 1
COLUMNS = (
    *("id", "file", "kernel", "dtype", "size", "schedule", "outcome", "provenance"),
    *("lut", "ff", "dsp", "bram", "fmax_mhz", "fmax_by_seed", "cycles", "cycles_checked"),
    *("clock_ns", "read_latency", "seconds"),
)
"""``id``: the first 16 digits of the SHA-256 of level 3, of which graphs are made."""

_CSV, MANIFEST, _PROGRAMS = "designs.csv", "manifest.json", "programs.jsonl"
_OF = ("file", "kernel", "size", "dtype")

Named = tuple[str, str, str, str]
"""A program of a dataset by the file, kernel, size and type of its lines."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A folder."""

    folder: Path

    def open(self, manifest: Mapping[str, Any], command: str) -> dict[str, dict[str, str]]:
        """Begin or go on; the lines that are there, by ``id``.

        Args:
            manifest: What all lines must have in common: device, versions of the tools.
            command: What makes them; kept with those before.

        Raises:
            InputError: W525: the folder has lines that were made in another way; W508, W511, W512,
                W521: what is there cannot be read, or is no dataset, or nothing can be written.
        """
        wanted = {"schema_version": SCHEMA_VERSION, **manifest}
        path = inside(self.folder / MANIFEST, self.folder)
        inside(self.folder / _CSV, self.folder)
        commands: list[Any] = []
        if path.exists():
            found = _read(path)
            different = [k for k in wanted if found.get(k) != wanted[k]]
            if different:
                raise InputError(
                    "W525",
                    f"{path} says another {', '.join(different)}: its lines and new ones do not mix",
                    help="write into another folder",
                )
            commands = found.get("commands", [])
            if not isinstance(commands, list):
                raise InputError("W521", f"{path} is not the manifest of a dataset")
        self._check_head()
        self._whole()
        known = {row["id"]: row for row in self.rows()}
        wanted["commands"] = list(dict.fromkeys([*map(str, commands), command]))
        write_whole(path, json.dumps(wanted, indent=2) + "\n")
        return known

    def rows(self) -> Iterator[dict[str, str]]:
        """Every line.

        Raises:
            InputError: as `placed`.
        """
        return (row for _, row in self.placed())

    def placed(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Every line, and where it is: file and number.

        Raises:
            InputError: W512 the file cannot be read; W511 a line has no ``id``.
        """
        path = self.folder / _CSV
        if path.exists():
            for where, row in csv_rows(inside(path, self.folder)):
                cell(row, "id", where)
                yield where, row

    def programs(self) -> dict[Named, dict[str, Any]]:
        """The programs of the lines as data (`dsl.stored`), which are still to be checked.

        Raises:
            InputError: W512: the file cannot be read; W546: it holds something else; W548: it is not
                in the folder.
        """
        path = self.folder / _PROGRAMS
        if not path.exists():
            return {}
        found: dict[Named, dict[str, Any]] = {}
        for number, line in enumerate(read_text(path, self.folder).split("\n")[:-1], 1):
            row = json_of(line, f"{path}:{number}")
            fit = isinstance(row, dict) and all(isinstance(row.get(n), str) for n in _OF)
            if not fit or not isinstance(row.get("program"), dict):
                refuse(f"{path}:{number}", "it does not say whose program it is, or has none")
            file, kernel, size, dtype = (row[n] for n in _OF)
            found[file, kernel, size, dtype] = row["program"]
        return found

    def keep_programs(self, programs: Mapping[Named, Program]) -> None:
        """Store the programs of lines to come, so that nobody has to run the files of the kernels.

        Raises:
            InputError: W525: lines that are there are of another program of that name; W508: it
                cannot be written.
        """
        known = self.programs()
        fresh: list[str] = []
        for named, program in programs.items():
            data = program_data(program)
            if named not in known:
                row = dict(zip(_OF, named, strict=True))
                fresh.append(json.dumps({**row, "program": data}, separators=(",", ":")) + "\n")
            elif known[named].get("digest") != data["digest"]:
                raise InputError(
                    "W525",
                    f"{named[1]} of {named[0]} has changed since {self.folder} was begun: its lines "
                    "and new ones do not mix",
                    help="write into another folder",
                )
        if fresh:
            path = self.folder / _PROGRAMS
            before = read_text(path, self.folder) if path.exists() else ""
            write_whole(path, before + "".join(fresh))

    def append(self, row: Mapping[str, object]) -> None:
        """Add a line.

        Raises:
            InputError: W508: it cannot be written.
        """
        path = self.folder / _CSV
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        with writing(path, _AGAIN), path.open("a", encoding="utf-8", newline="") as file:
            if not file.tell():
                writer.writeheader()
            writer.writerow({c: row.get(c) for c in COLUMNS})
            file.write(text.getvalue())
            file.flush()
            os.fsync(file.fileno())

    def _check_head(self) -> None:
        """That lines of ours fit behind those that are there.

        Raises:
            InputError: W511 they do not; W512 the file cannot be read.
        """
        path = self.folder / _CSV
        head = _bytes(path).partition(b"\n")
        if head[1] and head[0].rstrip(b"\r") != ",".join(COLUMNS).encode():
            raise InputError(
                "W511",
                f"{path}:1: the columns are not those of a dataset",
                help="write into another folder",
            )

    def _whole(self) -> None:
        """Cut a last line that a dying process did not finish."""
        path = self.folder / _CSV
        data = _bytes(path)
        end = data.rfind(b"\n") + 1
        if end < len(data):
            with writing(path, _AGAIN), path.open("r+b") as file:
                file.truncate(end)


def _bytes(path: Path) -> bytes:
    """What is in a file; nothing where there is none."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise InputError("W512", f"cannot read {path}: {error.strerror}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("W512", f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("W521", f"{path} is not the manifest of a dataset")
    return found
