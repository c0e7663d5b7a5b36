"""A design of a run for export: what it is a design of, and whether it computes the same."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from backends.devices import Device
from dse.evaluators.base import Check
from dse.kernels.data import NAME, kept
from dse.kernels.reduced import ascending, fitting, size_text
from dse.kernels.target import DEFAULT_SIZE, Target, target
from dse.run.folder.calibrations import calibration_in
from dse.run.folder.codec import program_digest
from dse.run.folder.directory import RunDirectory, open_run
from dse.run.results.front import best
from dse.run.sweeps.sweep import run_in
from dsl.errors.errors import InputError, ToolError
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from polyhedral.schedule import apply
from qor_gnn.tools.operators.calibration import Calibration

_SECONDS = 600.0  # limit of g++, and of the testbench


@dataclass(frozen=True, slots=True)
class Chosen:
    """A design of a run; ``source`` and ``size`` name its kernel as the command line did, ``tool``
    is the personality that the run asked for, if it asked for one, ``calibration`` what it was begun with.
    """

    run: RunDirectory
    key: str
    source: str
    size: str | None
    schedule: Schedule
    device: str
    clock: float
    tool: str | None
    calibration: Calibration | None


def chosen(path: Path, key: str | None, *, inside: bool = False) -> Chosen:
    """The design of a run with the given key, or (None) the best one, of those that labels show if ``inside``;
    of a search over clocks, of its run with the fastest design in time.

    Raises:
        InputError: W521 no run is there; W526 it has no design within its limits, or none of that
            key.
    """
    path = run_in(path)
    run = open_run(path, write=False)
    if key is None:
        key = best(run, inside=inside).key
    elif not re.fullmatch(r"[0-9a-f]{6,32}", key):
        raise InputError("W526", f"'{key}' is not the key of a design",
                         help="it is six hexadecimal digits of it or more; report.html in the run's folder shows them")  # fmt: skip
    else:
        found = sorted(p.name for p in (path / "points").glob(f"{key}*"))
        if len(found) != 1:
            what = f"{len(found)} designs" if found else "no design"
            raise InputError("W526", f"{path} has {what} with the key '{key}'",
                             help="report.html in the run's folder shows the keys of designs")  # fmt: skip
        key = found[0]
    manifest = run.manifest
    return Chosen(
        run,
        key,
        manifest["source"],
        manifest["size"],
        run.schedule(key),
        manifest["device"],
        manifest["clock_ns"],
        manifest.get("tool"),
        calibration_in(manifest, str(path)),
    )


def of_run(chosen: Chosen, spec: str | None) -> Target:
    """The kernel of a chosen design with its schedule, as it was when the run was begun.

    It is in the run's folder as data. No Python is run but that of a file which the user names.

    Args:
        chosen: the design.
        spec: ``file.py:kernel`` to run for the kernel; None for what the folder holds.

    Raises:
        InputError: W536 it is not what the run was begun with; W546 to W548, W512 the folder does not
            hold it.
    """
    kernel: Kernel
    if spec is not None:
        kernel, where = target(spec, None, chosen.size).kernel, spec
        help_line = "explore it anew; or put the file back as it was"
    else:
        kernel, where = kept(chosen.run.path), str(chosen.run.path / NAME)
        help_line = "name the kernel, and its file is run: --kernel FILE.py:NAME"
    if program_digest(kernel.program) != chosen.run.manifest["program"]:
        message = f"{where} is not the kernel that the run was begun with"
        raise InputError("W536", message, help=help_line)
    name = str(chosen.run.path / "points" / chosen.key / "schedule.json")
    return Target(kernel, chosen.schedule, name, chosen.size or DEFAULT_SIZE)


def verified(kernel: Kernel, schedule: Schedule, device: Device, clock: float) -> tuple[Check, ...]:
    """Whether a design computes what the kernel says.

    ``legality`` is proven at the kernel's own size. ``jit`` and ``csim`` run it at the smallest size
    that the schedule fits, against the interpreter: MLIR on the CPU, and the exported project
    compiled with g++. They are ``skipped`` where no size is small enough, or g++ is not there.

    Raises:
        ScheduleError: W2xx the schedule is not legal.
        LanguageError: W16x the program accesses an array out of bounds.
    """
    from dse.evaluators.csim import ABSENT, simulated

    start = time.perf_counter()
    apply(kernel.program, schedule)
    steps = f"{len(schedule.steps)} steps proven to keep every dependence"
    found = [Check("legality", "ok", steps, "isl", time.perf_counter() - start)]
    small = fitting(ascending(kernel), schedule)
    if small is None:
        reason = "the schedule fits no size that is small enough to run"
        return (*found, Check("jit", "skipped", reason), Check("csim", "skipped", reason))
    found.append(_jit(small, schedule))
    try:
        found.append(simulated(small, schedule, device, clock, _SECONDS))
    except ToolError as error:
        if error.code not in ABSENT:
            raise
        found.append(Check("csim", "skipped", error.message))
    return tuple(found)


def _jit(small: Kernel, schedule: Schedule) -> Check:
    """JIT-compiled MLIR against the interpreter."""
    from backends.verify import verify

    result = verify(small.program, schedule, cxx=False, make_inputs=small.make_inputs)
    tool = f"MLIR's JIT, {size_text(small.program)}"
    if not result.interp.ok:  # nothing to compare with: infinite or NaN, or no results at all
        return Check("jit", "skipped", result.interp.detail, tool, result.seconds)
    status = "ok" if result.jit.ok else "failed"
    return Check("jit", status, result.jit.detail, tool, result.seconds)
