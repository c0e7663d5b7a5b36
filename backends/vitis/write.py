"""Putting a project on disk so that nothing ever sees half of it.

A new project is written to a folder beside its place and then renamed. An untouched earlier export
is replaced as a whole in the same way. Where a folder has other contents, nothing is done unless
asked for: then file by file, each renamed into place, the manifest last, and nothing is deleted.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from backends.vitis.manifest import NAME, existing
from dsl.errors.errors import ToolError


def write_project(folder: Path, files: Mapping[str, bytes], force: bool = False) -> None:
    """Write a project's files, the manifest among them.

    Args:
        folder: Where to; made if it is not there, with its parents.
        files: Contents by plain relative path.
        force: Also write into a folder that has other contents, or files of an export that were
            edited; only files that the project has itself are overwritten.

    Raises:
        ToolError: W430: the folder has other contents; W431: it cannot be written.
    """
    for path in files:
        parts = Path(path).parts
        if not parts or Path(path).is_absolute() or ".." in parts:
            raise ValueError(f"{path!r} leaves the project's folder")
    try:
        folder = folder.resolve()
        if folder.exists() and not folder.is_dir():
            raise ToolError("W430", f"{folder} is a file, not a folder")
        state = existing(folder)
        untouched = state.export and not state.foreign and not state.changed
        if state.empty or untouched:
            _replace(folder, files)
        elif force:
            _merge(folder, files)
        else:
            raise ToolError(
                "W430",
                f"{folder} has other contents, and exporting would mix with them",
                notes=_notes(state.export, state.foreign, state.changed),
                help="choose another folder, or add --force: it overwrites only files that an "
                "export writes",
            )
    except OSError as e:
        raise ToolError("W431", f"cannot write the project {folder}: {e.strerror or e}") from e


def _notes(export: bool, foreign: tuple[str, ...], changed: tuple[str, ...]) -> list[str]:
    if not export:
        return [f"it has no {NAME}, so it is not an export of Weft"]
    notes = []
    for what, names in (("edited since the export", changed), ("not of the export", foreign)):
        if names:
            more = f" and {len(names) - 4} more" if len(names) > 4 else ""
            notes.append(f"{what}: {', '.join(names[:4])}{more}")
    return notes


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _replace(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.new-", dir=folder.parent))
    aside: Path | None = None
    try:
        fresh.chmod(0o777 & ~_umask())
        _fill(fresh, files)
        if folder.exists():
            aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old-", dir=folder.parent))
            folder.rename(aside / "project")
        try:
            fresh.rename(folder)
        except OSError:
            if aside is not None:
                (aside / "project").rename(folder)
            raise
    finally:
        for path in (fresh, aside):
            if path is not None and path.exists():
                shutil.rmtree(path)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _merge(folder: Path, files: Mapping[str, bytes]) -> None:
    for path in sorted(files, key=lambda p: (p == NAME, p)):
        target = folder / path
        if not target.parent.resolve().is_relative_to(folder):
            raise ToolError("W431", f"{target.parent} leads out of {folder}")
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(files[path])
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
