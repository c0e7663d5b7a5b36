"""A design of a run for export: what it is a design of, and whether it computes the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dse.run.directory import open_run
from dse.run.front import best
from dsl.errors import InputError, ScheduleError
from dsl.kernel import Kernel
from dsl.schedule import Schedule

SMALL = "mini"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A design as the command line would name it. ``schedule`` is a JSON file."""

    source: str
    size: str | None
    schedule: str
    device: str
    clock: float


def chosen(path: Path, key: str | None) -> Chosen:
    """The design of a run with the given key, or (None) the best one.

    Raises:
        InputError: W521 no run is there; W526 it has no design within its limits, or none of that
            key.
    """
    run = open_run(path, write=False)
    if key is None:
        key = best(run).key
    elif not re.fullmatch(r"[0-9a-f]{6,32}", key):
        raise InputError("W526", f"'{key}' is not the key of a design")
    else:
        found = sorted(p.name for p in (path / "points").glob(f"{key}*"))
        if len(found) != 1:
            what = f"{len(found)} designs" if found else "no design"
            raise InputError("W526", f"{path} has {what} with the key '{key}'")
        key = found[0]
    manifest = run.manifest
    return Chosen(
        manifest["source"],
        manifest["size"],
        str(path / "points" / key / "schedule.json"),
        manifest["device"],
        manifest["clock_ns"],
    )


def verified(kernel: Kernel, schedule: Schedule) -> dict[str, Any]:
    """Whether interpreter, JIT and compiled C++ agree under the schedule, at the kernel's small
    size: a row for the command's table. ``skipped`` where there is none that the schedule fits.
    """
    from backends.verify import verify

    row: dict[str, Any] = {"what": "verify"}
    if SMALL not in kernel.sizes:
        return {**row, "status": "ok", "detail": f"skipped: the kernel has no size '{SMALL}'"}
    try:
        result = verify(kernel.at(SMALL).program, schedule)
    except ScheduleError as error:
        detail = f"skipped: the schedule does not fit the size '{SMALL}' ({error.code})"
        return {**row, "status": "ok", "detail": detail}
    status = "ok" if result.ok else "failed"
    detail = f"jit {result.jit.status}, C++ {result.cxx.status} at size '{SMALL}'"
    return {**row, "status": status, "seconds": result.seconds, "detail": detail}
