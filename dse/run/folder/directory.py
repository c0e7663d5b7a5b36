"""A run's folder: ``manifest.json``, ``study.journal``, ``events.jsonl``, ``points/<key>/``.

A point's folder has its schedule, ``result.json`` of the evaluator that the search goes by, and one
file of each costlier evaluator that it was promoted to, named after it.

Every file but the journal and the events is written whole and renamed into place, so that a process
that is killed leaves either the old file or the new one. One process at a time may write.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from dse.evaluators.base import Result
from dse.evaluators.fidelities import BUDGETS, CSYNTH, PROMOTIONS
from dse.inside import FULL, inside
from dse.run.folder.codec import result_from_json, result_to_json
from dse.run.folder.json_text import json_in
from dsl.errors.errors import InputError
from dsl.schedules.schedule import Schedule

SCHEMA_VERSION = 1
_MANIFEST, _LOCK, _RESULT = "manifest.json", "run.lock", "result"
_JOURNAL, _EVENTS = "study.journal", "events.jsonl"
_OURS = (_MANIFEST, "problem.json", "kernel.json", _JOURNAL, f"{_JOURNAL}.lock", _EVENTS)
_MADE = ("points", "report.html", "predictor.safetensors", "predictor.safetensors.partial")
_DAMAGED = (KeyError, TypeError, ValueError, RecursionError)
_LONGEST = 1e9  # of times in a manifest
_NEEDED: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("kernel", "program", "device", "source"), (str,)),
    "size": (str, type(None)),
    "clock_ns": (int, float),
    "timeout": (int, float),
    "limits": (dict,),
    "latency_limit": (int, float, type(None)),
    "objectives": (list,),
    "strategy": (str,),
}
"""What a manifest must say, and in what form: somebody may have edited it."""


def wrong(manifest: Mapping[str, Any]) -> list[str]:
    """What a manifest does not say, or not in its form."""
    found = [k for k, kinds in _NEEDED.items() if not isinstance(manifest.get(k, ...), kinds)]
    for name in ("clock_ns", "timeout"):
        if name not in found and not 0 < manifest[name] <= _LONGEST:  # NaN is not
            found.append(name)
    if "limits" not in found and not all(type(n) is int for n in manifest["limits"].values()):
        found.append("limits")
    names = manifest.get("objectives")
    if "objectives" not in found and not (names and all(isinstance(n, str) for n in names)):
        found.append("objectives")
    if not isinstance(manifest.get("versions", {}), dict):
        found.append("versions")
    if not isinstance(manifest.get("routed", False), bool):
        found.append("routed")
    if manifest.get("budget", CSYNTH) not in BUDGETS:
        found.append("budget")
    if not isinstance(manifest.get("tool"), str | None):  # an older run has none
        found.append("tool")
    if not isinstance(manifest.get("calibration"), dict | None):  # an older run has none
        found.append("calibration")
    return found


@contextlib.contextmanager
def writing(path: Path, again: str = "weft explore --resume goes on") -> Iterator[None]:
    """What goes wrong while a file is written, as an error of ours.

    Args:
        path: of the file.
        again: what goes on once there is room on a full disk.

    Raises:
        InputError: W508 it cannot be written.
    """
    try:
        yield
    except OSError as error:
        help_ = "make it writable, or name another place"
        if error.errno in FULL:
            help_ = f"make room there; what is finished is kept, and {again}"
        raise InputError("W508", f"cannot write {path}: {error.strerror}", help=help_) from error


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is never there in part.

    Raises:
        InputError: W508 it cannot be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            part.unlink(missing_ok=True)  # a link that somebody put there would be followed
            part.write_text(text, encoding="utf-8")
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise


@dataclass(slots=True)
class RunDirectory:
    """An open run. Closing it, or the end of the process however it comes, gives up the lock.

    ``fresh`` is that it was made here and nothing has come of it: closed so, it is taken away, so
    that the same command, with its mistake corrected, finds nothing in its way.
    """

    path: Path
    manifest: dict[str, Any]
    lock: TextIO | None
    known: dict[str, Result] = field(default_factory=dict)
    fresh: bool = False
    looked_at: set[str] = field(default_factory=set)  # points in whose folders no link leads out

    @property
    def journal(self) -> Path:
        """Optuna's journal."""
        return self.path / _JOURNAL

    def event(self, kind: str, **details: object) -> None:
        """Append to the log of events.

        Raises:
            InputError: W508 it cannot be written.
        """
        line = json.dumps({"time": round(time.time(), 3), "event": kind, **details})
        path = self.path / _EVENTS
        with writing(path), path.open("a+b") as file:
            # A line that a killed process left in part is not continued: it would take this one along.
            if file.tell() and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n":
                line = f"\n{line}"
            file.write(f"{line}\n".encode())
        # A study in a database stays there, and is gone on with from here.
        if kind != "started" or self.manifest.get("storage") is not None:
            self.fresh = False

    def point_keys(self) -> list[str]:
        """The keys of its points, sorted."""
        return sorted(folder.name for folder in (self.path / "points").glob("*"))

    def point(self, key: str) -> Path:
        """The folder of a point.

        Raises:
            InputError: W548 it, or a file in it, is a link that leads out of the run's folder.
        """
        folder = self.path / "points" / key
        if key not in self.looked_at:
            for path in (folder, *folder.glob("*")):
                inside(path, self.path)
            self.looked_at.add(key)
        return folder

    def result(self, key: str) -> Result | None:
        """The result kept under a key; None if there is none that can be read, or no schedule that it is of."""
        if key not in self.known:
            folder = self.point(key)
            try:
                found = result_from_json(json_in(folder / f"{_RESULT}.json"))
                Schedule.load(folder / "schedule.json")
            except (OSError, InputError, *_DAMAGED):
                return None
            self.known[key] = found
        return self.known[key]

    def begin(self, key: str, schedule: Schedule, point: dict[str, Any]) -> None:
        """Store what a point is, before its result is known."""
        folder = self.point(key)
        write_whole(folder / "schedule.json", schedule.to_json(self.manifest["kernel"]))
        write_whole(folder / "point.json", json.dumps(point) + "\n")

    def keep(self, key: str, result: Result) -> None:
        """Store the result of a point, which makes it count."""
        self._write(key, _RESULT, result)
        self.known[key] = result

    def promoted(self, key: str) -> dict[str, Result]:
        """What costlier evaluators found of a point, by their names."""
        found: dict[str, Result] = {}
        for name in PROMOTIONS:
            path = self.point(key) / f"{name}.json"
            with contextlib.suppress(OSError, *_DAMAGED):
                found[name] = result_from_json(json_in(path))
        return found

    def promote(self, key: str, evaluator: str, result: Result) -> None:
        """Store what a costlier evaluator found of a point."""
        assert evaluator in PROMOTIONS
        self._write(key, evaluator, result)

    def _write(self, key: str, name: str, result: Result) -> None:
        text = json.dumps(result_to_json(result), indent=1) + "\n"
        self.fresh = False
        write_whole(self.point(key) / f"{name}.json", text)

    def schedule(self, key: str) -> Schedule:
        """The schedule of a point."""
        return Schedule.load(self.point(key) / "schedule.json")

    def close(self) -> None:
        """Let others write."""
        if self.fresh:
            self._take_away()
        if self.lock is not None:
            self.lock.close()
            self.lock = None

    def _take_away(self) -> None:
        """Remove what was begun here, and the folder where nothing else is in it."""
        self.fresh = False
        shutil.rmtree(self.path / "points", ignore_errors=True)
        with contextlib.suppress(OSError):  # what stopped the run is what the user has to hear of
            for name in (*_OURS, _LOCK):
                (self.path / name).unlink(missing_ok=True)
            self.path.rmdir()


def create(path: Path, manifest: dict[str, Any]) -> RunDirectory:
    """Begin a run in a new or empty folder.

    Raises:
        InputError: W508 it cannot be written, or is a file; W522 another process is at work on it;
            W527 there is a run, or something else, already.
    """
    if path.exists() and not path.is_dir():
        raise InputError("W508", f"{path} is a file, not a folder", help="name another with --out")
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    if not unbegun(path):
        resumed = "--resume goes on with the run in it; or "
        raise InputError(
            "W527",
            f"{path} is not empty",
            help=f"{resumed if (path / _MANIFEST).exists() else ''}name another folder",
        )
    full = {"schema_version": SCHEMA_VERSION, **manifest}
    run = RunDirectory(path, full, _locked(path), fresh=True)
    try:
        write_whole(path / _MANIFEST, json.dumps(full, indent=2) + "\n")
    except InputError:
        run.close()
        raise
    return run


def unbegun(path: Path) -> bool:
    """Whether a folder is empty, or has only what a run leaves that was killed at its beginning.

    Raises:
        InputError: W512 it cannot be read.
    """
    if not path.is_dir():
        return False
    ours = (_LOCK, f".{_MANIFEST}.")
    try:
        return all(inside.name.startswith(ours) for inside in path.iterdir())
    except OSError as error:
        raise InputError("W512", f"cannot read {path}: {error.strerror}") from error


def open_run(path: Path, *, write: bool = True) -> RunDirectory:
    """Open a run that is there, to go on with it or (``write=False``) to look at it.

    Raises:
        InputError: W508 it cannot be written; W521 there is none; W522 another process is at work
            on it; W548 a file of it is a link that leads out of it.
    """
    for known in (*_OURS, _LOCK, *_MADE):
        inside(path / known, path)
    try:
        manifest = json_in(path / _MANIFEST)
        version = manifest["schema_version"]
    except (OSError, *_DAMAGED) as error:
        raise InputError("W521", f"{path} holds no run: no manifest.json to read") from error
    if version != SCHEMA_VERSION:
        raise InputError("W521", f"{path} has schema_version {version}, not {SCHEMA_VERSION}")
    if found := wrong(manifest):
        raise InputError("W521", f"{path / _MANIFEST} does not say the run's {', '.join(found)}")
    return RunDirectory(path, manifest, _locked(path) if write else None)


def _locked(path: Path) -> TextIO:
    try:
        lock = (path / _LOCK).open("a", encoding="utf-8")
    except OSError as error:
        raise InputError(
            "W508",
            f"cannot write {path / _LOCK}: {error.strerror}",
            help="weft report, compare and export read a run that cannot be written",
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise InputError("W522", f"another process is at work on {path}") from error
    return lock
