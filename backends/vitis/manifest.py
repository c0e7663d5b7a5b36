"""``weft.json``: what an exported project is and which files are in it. It marks a Weft export."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "weft.json"
PROGRAM = "program.json"
SCHEMA_VERSION = 1

# What tools leave in a project. It belongs to the design that was there and goes with it.
_LEFT_BY_TOOLS = ("build", "hls", "work", ".Xil", "xsim.dir", "_x")


def manifest(facts: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """The manifest's bytes: facts, then every file with its SHA-256."""
    sums = {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)}
    data = {"schema_version": SCHEMA_VERSION, "made_by": "weft", **facts, "files": sums}
    return (json.dumps(data, indent=2) + "\n").encode()


@dataclass(frozen=True, slots=True)
class Existing:
    """What is in a folder: nothing, an export of ours, or something else.

    ``foreign`` lists files that an export did not write, ``changed`` those that someone edited.
    """

    empty: bool
    export: bool
    foreign: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def existing(folder: Path) -> Existing:
    """Look at a folder without changing it. One that is not there is empty."""
    if not folder.exists() or not any(folder.iterdir()):
        return Existing(empty=True, export=False)
    sums = _sums(folder / NAME)
    if sums is None:
        return Existing(empty=False, export=False)
    foreign, changed = [], []
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        name = relative.as_posix()
        if relative.parts[0] in _LEFT_BY_TOOLS or name == NAME or path.suffix == ".log":
            continue
        if name in sums:
            if path.is_symlink() or hashlib.sha256(path.read_bytes()).hexdigest() != sums[name]:
                changed.append(name)
        elif path.is_symlink() or not path.is_dir():
            foreign.append(name)
    return Existing(empty=False, export=True, foreign=tuple(foreign), changed=tuple(changed))


def _sums(path: Path) -> dict[str, str] | None:
    """The files of a manifest; None if it is none of ours."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict) or data.get("made_by") != "weft":
        return None
    files = data.get("files")
    if not isinstance(files, dict) or not all(isinstance(v, str) for v in files.values()):
        return None
    return files
