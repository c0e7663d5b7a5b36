"""The reports in a folder of a project, or of a tree of them: found without following a link.

A folder of somebody else's is data. What is no plain file, is larger than `LARGEST`, or lies behind a link
is left out, and a remark says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dsl.errors.errors import InputError

LARGEST = 64 << 20
"""Bytes of a report: verbose ones of the largest public designs have a tenth of it."""

MOST = 20_000
"""Reports that are read."""

_DEEPEST, _ENTRIES = 40, 500_000  # folders in folders; names that are looked at
_LONGEST = 20_000  # characters of a line: those of a wide operation have a thousand

Remark = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Solution:
    """The reports of one solution: a folder that has ``syn/report``, or ``.autopilot/db``.

    Attributes:
        folder: the solution's.
        project: the folder that it is in: solutions of one are of one program. What the tool copied into a
            solution is of the same.
        modules: ``*_csynth.rpt``, one of each module.
        summaries: ``csynth.rpt``, with the table of bound operators since 2021.1.
        totals: ``csynth.xml`` and ``*_csynth.xml``.
        schedules: ``*.verbose.sched.rpt``, or ``*.verbose.bind.rpt`` where a module has only that.
        routed: reports of ``impl/report``, of the export after place and route.
    """

    folder: Path
    project: Path
    modules: tuple[Path, ...] = ()
    summaries: tuple[Path, ...] = ()
    totals: tuple[Path, ...] = ()
    schedules: tuple[Path, ...] = ()
    routed: tuple[Path, ...] = ()


def solutions(root: Path, remark: Remark = lambda _: None) -> list[Solution]:
    """The solutions in a folder, at any depth, by name.

    Args:
        root: the folder of a project, of a solution, or of many.
        remark: is told of what is left out.

    Raises:
        InputError: W512: it is no folder, or cannot be read; W551: there is far too much in it.
    """
    found: dict[Path, dict[str, list[Path]]] = {}
    whole: set[Path] = set()
    for n, path in enumerate(_files(root, remark)):
        if n >= MOST:
            message = f"{root} has more than {MOST:,} reports"
            raise InputError("W551", message, help="name the projects that count one by one")
        place = _place(path)
        if place is not None:
            kind, folder = place
            found.setdefault(folder, {}).setdefault(kind, []).append(path)
            if folder != path.parent:
                whole.add(folder)
    return [
        Solution(
            folder,
            next(
                f for f in (*reversed(folder.parents), folder) if f in whole or f == folder
            ).parent,
            modules=tuple(kinds.get("modules", ())),
            summaries=tuple(kinds.get("summaries", ())),
            totals=tuple(kinds.get("totals", ())),
            schedules=_once(kinds.get("schedules", [])),
            routed=tuple(kinds.get("routed", ())),
        )
        for folder, kinds in sorted(found.items())
    ]


def _place(path: Path) -> tuple[str, Path] | None:
    """What a report is, and the solution that it is of; None of another file.

    Reports that somebody copied out of their solution are of the folder that they lie in.
    """
    name, at = path.name, path.parent
    if name.endswith((".verbose.sched.rpt", ".verbose.bind.rpt")):
        return "schedules", at.parent.parent if at.parts[-2:] == (".autopilot", "db") else at
    solution = at.parent.parent if at.parts[-2:] == ("syn", "report") else at
    if name == "csynth.rpt":
        return "summaries", solution
    if name == "csynth.xml" or name.endswith("_csynth.xml"):
        return "totals", solution
    if name.endswith("_csynth.rpt"):
        return "modules", solution
    if name.endswith(("_export.rpt", "_export.xml")) or name in (
        "export_impl.rpt", "export_impl.xml",
    ):  # fmt: skip
        language = at.parent if at.name in ("verilog", "vhdl") else at
        if language.parts[-2:] == ("impl", "report"):
            return "routed", language.parent.parent
    return None


def _once(schedules: list[Path]) -> tuple[Path, ...]:
    """The schedule of each module: reports of the binding repeat it."""
    chosen: dict[tuple[Path, str], Path] = {}
    for path in sorted(schedules, key=lambda p: p.name.endswith(".bind.rpt")):
        module = path.name.partition(".verbose.")[0]
        chosen.setdefault((path.parent, module), path)
    return tuple(sorted(chosen.values()))


def _files(root: Path, remark: Remark) -> Iterator[Path]:
    """The plain files that may be reports."""
    looked = 0
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                names = sorted(entries, key=lambda e: e.name)
        except OSError as error:
            if folder == root:
                raise InputError("W512", f"cannot read {root}: {error.strerror}") from error
            remark(f"{folder} is left out: {error.strerror}")
            continue
        looked += len(names)
        if looked > _ENTRIES:
            message = f"{root} has more than {_ENTRIES:,} files"
            raise InputError("W551", message, help="name the projects that count one by one")
        for entry in names:
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEEPEST:
                    waiting.append((path, depth + 1))
                else:
                    remark(f"{path} is left out: it lies too deep")
            elif _place(path) is not None and _good(entry, remark):
                yield path


def _good(entry: os.DirEntry[str], remark: Remark) -> bool:
    """A plain file of a size that is read."""
    if not entry.is_file(follow_symlinks=False):
        remark(f"{entry.path} is left out: it is a link, or no file")
        return False
    try:
        size = entry.stat(follow_symlinks=False).st_size
    except OSError as error:
        remark(f"{entry.path} is left out: {error.strerror}")
        return False
    if size > LARGEST:
        remark(f"{entry.path} is left out: it has {size >> 20:,} MiB")
        return False
    return True


def lines(path: Path) -> Iterator[str]:
    """The lines of a report, whatever it is encoded in; ones that are far too long are left out.

    Raises:
        OSError: It cannot be read.
    """
    with path.open(encoding="utf-8", errors="replace", newline=None) as file:
        whole = True
        while line := file.readline(_LONGEST):
            ended = line.endswith("\n")
            if whole and (ended or len(line) < _LONGEST):
                yield line
            whole = ended
