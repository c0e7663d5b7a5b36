"""Many kernels in one C++ program that runs them on data files (see harness.h).

Each kernel is put into a namespace of its own. Compiling is most of the work and the headers are
most of the compiling, so kernels that do not use ap_int or ap_fixed never see their headers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from backends.ap_types import need_ap_types
from backends.cxx import Cxx
from backends.process import Limits, Run, run_limited
from backends.rawdata import element_bytes
from dsl.programs.program import Program

HERE = Path(__file__).parent

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"].*[>\"])[^\n]*\n?", re.MULTILINE)
_WIDEST = re.compile(r"^[ \t]*#[ \t]*define[ \t]+AP_INT_MAX_W[ \t]+(\d+)[^\n]*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Unit:
    """The C++ text of one kernel, with the program it came from and the function's name.

    ``ap_types``: it needs ap_int.h or ap_fixed.h.
    """

    program: Program
    function: str
    text: str
    ap_types: bool = False

    @property
    def includes(self) -> tuple[str, ...]:
        """What it includes, with brackets or quotes."""
        return tuple(_INCLUDE.findall(self.text))


def program_text(units: Sequence[Unit]) -> str:
    """One translation unit with all kernels and a ``main``."""
    includes = dict.fromkeys(name for unit in units for name in unit.includes)
    widest = max((int(w) for unit in units for w in _WIDEST.findall(unit.text)), default=0)
    lines = [f"#define AP_INT_MAX_W {widest}"] if widest else []
    lines += [f"#include {name}" for name in includes]
    lines += ['#include "harness.h"', ""]
    for n, unit in enumerate(units):
        # Functions with C linkage are one and the same in all namespaces.
        text = _WIDEST.sub("", _INCLUDE.sub("", unit.text)).replace('extern "C" ', "")
        lines += [f"namespace kernel_{n} {{", text, "}", ""]
    lines += ["int main(int argc, char **argv) {"]
    for n, unit in enumerate(units):
        arguments = unit.program.arguments
        counts = [prod(a.shape) if a.shape else 0 for a in arguments]
        sizes = [element_bytes(a.dtype) for a in arguments]
        lines.append(f"  static const std::size_t counts_{n}[] = {{{_listed(counts)}}};")
        lines.append(f"  static const std::size_t bytes_{n}[] = {{{_listed(sizes)}}};")
    lines += ["  const weft_harness::job kernels[] = {"]
    for n, unit in enumerate(units):
        function = f"kernel_{n}::{unit.function}"
        lines.append(f"      weft_harness::kernel({function}, counts_{n}, bytes_{n}),")
    lines += ["  };", f"  return weft_harness::run_jobs(argc, argv, kernels, {len(units)});", "}"]
    return "\n".join(lines) + "\n"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, [*numbers, 0]))  # no array of C++ is empty


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled program, or the compiler's refusal (``executable`` is None)."""

    executable: Path | None
    compilation: Run


def build(
    cxx: Cxx,
    units: Sequence[Unit],
    folder: Path,
    name: str,
    *,
    includes: Sequence[Path] = (),
    flags: Sequence[str] = (),
    limits: Limits | None = None,
) -> Built:
    """Compile kernels to one program.

    Args:
        cxx: The compiler.
        units: The kernels.
        folder: Where source and executable go.
        name: Of the source and the executable.
        includes: Folders of headers that the kernels include.
        flags: For the compiler.
        limits: Of the compiler.

    Raises:
        ToolError: W410: the kernels need the ap_types headers and they are not here.
    """
    folders = [HERE, *includes]
    if any(unit.ap_types for unit in units):
        folders.append(need_ap_types(units[0].program.name).folder)
    source, executable = folder / f"{name}.cpp", folder / name
    source.write_text(program_text(units), encoding="utf-8")
    run = cxx.compile([source], executable, includes=folders, flags=flags, limits=limits)
    return Built(executable if run.ok else None, run)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One job: the bytes of its array arguments, or None and how it ended."""

    data: bytes | None
    detail: str = ""


def run_jobs(
    executable: Path,
    inputs: Sequence[Sequence[bytes]],
    folder: Path,
    seconds: int,
    env: dict[str, str] | None = None,
    memory: int = 4 << 30,
) -> list[list[Outcome]]:
    """Run every kernel on each of its data sets, in the order in which they were compiled.

    A job that crashes or takes longer than `seconds` is a result; the next ones still run.

    Args:
        executable: Made by `build`.
        inputs: For each kernel, its data sets (the same number for all), packed.
        folder: An empty folder for the data files.
        seconds: For each job.
        env: Added to the environment.
        memory: Limit of the address space in bytes, 0 for none.
    """
    sets = len(inputs[0])
    flat = [data for kernel in inputs for data in kernel]
    for j, data in enumerate(flat):
        (folder / f"{j}.in").write_bytes(data)
    outcomes: list[Outcome] = []
    while len(outcomes) < len(flat):
        start = len(outcomes)
        limits = Limits(seconds=seconds * (len(flat) - start) + 60, memory=memory)
        command = [str(executable), str(folder), str(seconds), str(sets), str(start)]
        run = run_limited(command, limits, env=env)
        while len(outcomes) < len(flat) and (done := folder / f"{len(outcomes)}.out").exists():
            outcomes.append(Outcome(done.read_bytes()))
        if len(outcomes) < len(flat):
            outcomes.append(Outcome(None, _reason(run, seconds)))
    return [outcomes[n : n + sets] for n in range(0, len(outcomes), sets)]


def _reason(run: Run, seconds: int) -> str:
    if run.outcome == "SIGALRM":
        return f"no answer in {seconds} s"
    said = [line for line in run.tail(200) if "ERROR:" in line or "runtime error:" in line]
    return f"{run.outcome}: {said[0].strip()}" if said else run.outcome
