"""The dataset: ``designs.csv``, a line a design, and ``manifest.json`` with how it was made.

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

from dse.run.directory import write_whole
from dsl.errors import InputError

SCHEMA_VERSION = 1
COLUMNS = (
    *("id", "file", "kernel", "dtype", "size", "schedule", "outcome", "provenance"),
    *("lut", "ff", "dsp", "bram", "fmax_mhz", "fmax_by_seed", "cycles", "cycles_checked"),
    *("clock_ns", "read_latency", "seconds"),
)
"""``id``: the first 16 digits of the SHA-256 of level 3, of which graphs are made."""

_CSV, MANIFEST = "designs.csv", "manifest.json"


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
            InputError: W525: the folder has lines that were made in another way.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = {"schema_version": SCHEMA_VERSION, **manifest}
        path = self.folder / MANIFEST
        if path.exists():
            found = _read(path)
            different = [k for k in wanted if found.get(k) != wanted[k]]
            if different:
                raise InputError(
                    "W525",
                    f"{path} says another {', '.join(different)}: its lines and new ones do not mix",
                    help="write into another folder",
                )
            wanted["commands"] = list(dict.fromkeys([*found.get("commands", ()), command]))
        else:
            wanted["commands"] = [command]
        write_whole(path, json.dumps(wanted, indent=2) + "\n")
        self._whole()
        return {row["id"]: row for row in self.rows()}

    def rows(self) -> Iterator[dict[str, str]]:
        """Every line."""
        path = self.folder / _CSV
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                yield from csv.DictReader(file)

    def append(self, row: Mapping[str, object]) -> None:
        """Add a line."""
        path = self.folder / _CSV
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        if not path.exists() or not path.stat().st_size:
            writer.writeheader()
        writer.writerow({c: row.get(c) for c in COLUMNS})
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
            file.flush()
            os.fsync(file.fileno())

    def _whole(self) -> None:
        """Cut a last line that a dying process did not finish."""
        path = self.folder / _CSV
        if not path.exists():
            return
        data = path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end < len(data):
            with path.open("r+b") as file:
                file.truncate(end)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError("W521", f"{path} is not the manifest of a dataset")
    return found
