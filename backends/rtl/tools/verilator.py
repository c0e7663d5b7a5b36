"""Verilator: linting, and simulators as executables.

A simulator is compiled in one piece and linked with Verilator's runtime, which is compiled once for
a machine: this halves the time of a small design.
"""

from __future__ import annotations

import fcntl
import hashlib
from dataclasses import dataclass
from pathlib import Path

from backends.cxx import need_cxx
from backends.process import Limits, Run, run_limited
from backends.rtl.tools.find import Tool, headers
from backends.rtl.tools.result import Outcome

WAIVED = ("DECLFILENAME",)
"""Warnings of ``-Wall`` that are switched off: one file holds several modules."""

LIMITS = Limits(seconds=300)
DESIGN, MAIN = "design.v", "main.cpp"
PREFIX = "Vdesign"
"""The class of the top module; its header is ``Vdesign.h``."""

_FLAGS = (
    *("-std=c++17", "-O1", "-fno-strict-aliasing", "-pthread"),
    *("-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TRACE=0"),
)
# Reading Verilator's headers takes longer than the rest of a small design.
_HEADER = "verilated_first.h"
_RUNTIME = ("verilated.cpp", "verilated_threads.cpp")


@dataclass(frozen=True, slots=True)
class Simulator:
    """What came of `build`: ``program`` where the outcome is OK."""

    outcome: Outcome
    program: Path | None
    seconds: float
    message: str = ""

    def run(self, arguments: tuple[str, ...] = (), limits: Limits = LIMITS) -> Run:
        """Run it in its folder."""
        assert self.program is not None, self.message
        return run_limited([self.program, *arguments], limits, cwd=self.program.parent)


def lint(tool: Tool, verilog: str, top: str, folder: Path, limits: Limits = LIMITS) -> Run:
    """``--lint-only -Wall``: the run is ok where there is no warning but those of `WAIVED`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DESIGN).write_text(verilog, encoding="utf-8")
    waived = [f"-Wno-{name}" for name in WAIVED]
    return tool.run(["--lint-only", "-Wall", *waived, "--top-module", top, DESIGN], folder, limits)


def build(
    tool: Tool,
    verilog: str,
    top: str,
    main: str,
    folder: Path,
    *,
    limits: Limits = LIMITS,
    runtime: Path | None = None,
    optimise: bool = False,
) -> Simulator:
    """Compile a design and a C++ main program to an executable.

    Args:
        tool: From `find.find_verilator`.
        verilog: The whole text.
        top: Its top module; its class is ``Vdesign``, without tracing and timing.
        main: A C++ file with ``main`` that includes ``Vdesign.h``.
        folder: Where it works; everything is left there.
        limits: Of each of the two steps.
        runtime: A folder that keeps Verilator's compiled runtime from call to call; that of the
            design by default.
        optimise: -O3 on both sides: for long simulations.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DESIGN).write_text(verilog, encoding="utf-8")
    (folder / MAIN).write_text(main, encoding="utf-8")
    options = ["--cc", "-Wno-fatal", "-Wno-lint", "--prefix", PREFIX, "--Mdir", "."]
    options += ["--output-split", "0", "--no-timing", "-O3" if optimise else "-O1"]
    if not optimise:
        options.append("-fno-inline")  # A third of the C++ where operators are many.
    first = tool.run([*options, "--top-module", top, DESIGN], folder, limits)
    if not first.ok:
        return _failed(first, first.seconds)
    cxx = need_cxx()
    include = headers(tool)
    places = ["-I.", "-isystem", str(include), "-isystem", str(include / "vltstd")]
    ready, objects = _runtime(
        cxx.path, tool, include, runtime or folder, limits, runtime is not None
    )
    if not ready.ok:
        return _failed(ready, first.seconds + ready.seconds)
    parts = sorted(p.name for p in folder.glob(f"{PREFIX}*.cpp"))
    whole = "".join(f'#include "{p}"\n' for p in [*parts, MAIN])
    (folder / "whole.cpp").write_text(whole, encoding="utf-8")
    flags = (*_FLAGS, "-O2") if optimise else _FLAGS
    program = folder.resolve() / "simulator"
    command = [cxx.path, *flags, *places, "-o", program, "whole.cpp", *objects]
    if (header := objects[0].with_name(_HEADER)).exists() and not optimise:
        command += ["-include", header]
    second = run_limited([*command, "-latomic"], limits, cwd=folder)
    seconds = first.seconds + ready.seconds + second.seconds
    if not second.ok:
        return _failed(second, seconds)
    return Simulator(Outcome.OK, program, seconds)


def _failed(run: Run, seconds: float) -> Simulator:
    outcome = Outcome.TIMEOUT if run.timed_out else Outcome.FAILED
    return Simulator(outcome, None, seconds, "\n".join((run.outcome, *run.tail())))


def _runtime(
    compiler: Path, tool: Tool, include: Path, folder: Path, limits: Limits, often: bool
) -> tuple[Run, list[Path]]:
    """Verilator's runtime as object files, compiled by whoever comes first.

    Where it is used ``often``, a precompiled header lies with them.
    """
    tag = hashlib.sha256(f"{tool.version} {compiler} {_FLAGS}".encode()).hexdigest()[:16]
    place = folder.resolve() / f"verilated-{tag}"
    place.mkdir(parents=True, exist_ok=True)
    objects = [place / f"{Path(name).stem}.o" for name in _RUNTIME]
    work: list[tuple[tuple[str | Path, ...], Path]] = [
        (("-c", include / n), o) for n, o in zip(_RUNTIME, objects, strict=True)
    ]
    header = place / _HEADER
    if often:
        work.append((("-x", "c++-header", header), place / f"{_HEADER}.gch"))
    run = Run((), 0, "", 0.0)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if often and not header.exists():
            header.write_text('#include "verilated.h"\n', encoding="utf-8")
        for what, target in work:
            if target.exists():
                continue
            fresh = target.with_suffix(".new")
            places = ("-isystem", include, "-isystem", include / "vltstd")
            run = run_limited([compiler, *_FLAGS, *places, *what, "-o", fresh], limits)
            if not run.ok:
                break
            fresh.replace(target)
    return run, objects
