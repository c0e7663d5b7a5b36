"""A run's folder: ``manifest.json``, ``study.journal``, ``events.jsonl``, ``points/<key>/``.

Every file but the journal and the events is written whole and renamed into place, so that a process
that is killed leaves either the old file or the new one. One process at a time may write.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from dse.evaluators.base import Result
from dse.run.codec import result_from_json, result_to_json
from dsl.errors import InputError
from dsl.schedule import Schedule

SCHEMA_VERSION = 1
_DAMAGED = (KeyError, TypeError, ValueError)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is never there in part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


@dataclass(slots=True)
class RunDirectory:
    """An open run. Closing it, or the end of the process however it comes, gives up the lock."""

    path: Path
    manifest: dict[str, Any]
    lock: TextIO | None
    known: dict[str, Result] = field(default_factory=dict)

    @property
    def journal(self) -> Path:
        """Optuna's journal."""
        return self.path / "study.journal"

    def event(self, kind: str, **details: object) -> None:
        """Append to the log of events."""
        line = json.dumps({"time": round(time.time(), 3), "event": kind, **details})
        with (self.path / "events.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def result(self, key: str) -> Result | None:
        """The result kept under a key; None if there is none that can be read."""
        if key not in self.known:
            try:
                text = (self.path / "points" / key / "result.json").read_text(encoding="utf-8")
                self.known[key] = result_from_json(json.loads(text))
            except (OSError, *_DAMAGED):
                return None
        return self.known[key]

    def keep(self, key: str, schedule: Schedule, point: dict[str, Any], result: Result) -> None:
        """Store a result with what it belongs to; the result comes last and makes it count."""
        folder = self.path / "points" / key
        write_whole(folder / "schedule.json", schedule.to_json(self.manifest["kernel"]))
        write_whole(folder / "point.json", json.dumps(point) + "\n")
        write_whole(folder / "result.json", json.dumps(result_to_json(result), indent=1) + "\n")
        self.known[key] = result

    def schedule(self, key: str) -> Schedule:
        """The schedule of a point."""
        return Schedule.load(self.path / "points" / key / "schedule.json")

    def close(self) -> None:
        """Let others write."""
        if self.lock is not None:
            self.lock.close()
            self.lock = None


def create(path: Path, manifest: dict[str, Any]) -> RunDirectory:
    """Begin a run in a new or empty folder.

    Raises:
        InputError: W520 there is a run, or something else, already.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(
            "W520",
            f"{path} is not empty",
            help="--resume goes on with the run in it; or name another folder",
        )
    path.mkdir(parents=True, exist_ok=True)
    lock = _locked(path)
    full = {"schema_version": SCHEMA_VERSION, **manifest}
    write_whole(path / "manifest.json", json.dumps(full, indent=2) + "\n")
    return RunDirectory(path, full, lock)


def open_run(path: Path, *, write: bool = True) -> RunDirectory:
    """Open a run that is there, to go on with it or (``write=False``) to look at it.

    Raises:
        InputError: W521 there is none; W522 another process is at work on it.
    """
    try:
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        version = manifest["schema_version"]
    except (OSError, *_DAMAGED) as error:
        raise InputError("W521", f"{path} holds no run: no manifest.json to read") from error
    if version != SCHEMA_VERSION:
        raise InputError("W521", f"{path} has schema_version {version}, not {SCHEMA_VERSION}")
    run = RunDirectory(path, manifest, _locked(path) if write else None)
    if write:
        _mend(run.journal)
    return run


def _locked(path: Path) -> TextIO:
    lock = (path / "run.lock").open("a", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise InputError("W522", f"another process is at work on {path}") from error
    return lock


def _mend(journal: Path) -> None:
    """Undo what a killed process left: a torn last line, and the lock on the journal."""
    for left in journal.parent.glob(f"{journal.name}.lock*"):
        left.unlink()
    if not journal.exists():
        return
    data = journal.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        with journal.open("r+b") as file:
            file.truncate(len(whole))
