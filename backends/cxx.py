"""g++ as one small class: which one, what it was asked, what it said, how long it took."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backends.process import Limits, Run, run_limited
from dsl.errors.errors import ToolError

# No contraction to fused multiply-adds and no x87: each operation rounds once, as in hardware.
# -frounding-math keeps g++ from making -x of 0.0 - x where x cannot be -0.0 (an integer made a float,
# an absolute value): of +0.0 that has the wrong sign. g++ 12 does so at every level of optimisation.
# Pragmas of HLS are unknown to g++; labels of loops are there for the HLS tool.
FLAGS = (
    *("-std=c++14", "-O1", "-ffp-contract=off", "-frounding-math", "-fno-strict-aliasing"),
    *("-Wall", "-Wno-unknown-pragmas", "-Wno-unused-label", "-Wno-unused-variable"),
)
SANITIZE = (
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"),
    "-g1",
)
# The ap_types headers shift negative numbers to the left, which C++14 leaves undefined.
SANITIZE_AP = (*SANITIZE, "-fno-sanitize=shift")


@dataclass(frozen=True, slots=True)
class Cxx:
    """A C++ compiler with g++'s command line."""

    path: Path
    version: str

    def compile(
        self,
        sources: Sequence[Path],
        output: Path,
        *,
        includes: Sequence[Path] = (),
        flags: Sequence[str] = (),
        limits: Limits | None = None,
    ) -> Run:
        """Compile and link sources to an executable; the `Run` says whether it worked.

        Args:
            sources: C++ files.
            output: The executable to write.
            includes: Folders with headers; those are system headers (no warnings from them).
            flags: Added after `FLAGS`.
            limits: 300 s and 4 GiB by default.
        """
        command: list[str | Path] = [self.path, *FLAGS, *flags]
        for folder in includes:
            command += ["-isystem", folder]
        command += ["-o", output, *sources]
        return run_limited(command, limits or Limits(seconds=300))


@cache
def _version(path: str) -> str:
    run = run_limited([path, "--version"], Limits(seconds=30))
    first = run.log.splitlines()[0] if run.log else ""
    match = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", first)
    if not run.ok or match is None:
        raise ToolError("W402", f"{path} --version says nothing that g++ would say: {first!r}")
    return match[1]


def find_cxx() -> Cxx | None:
    """The compiler named by the environment variable ``CXX``, else g++ on PATH; None if absent.

    Raises:
        ToolError: W402: ``CXX`` names a program that is not there or is no compiler.
    """
    named = os.environ.get("CXX")
    path = shutil.which(named or "g++")
    if path is None:
        if named:
            raise ToolError(
                "W402",
                f"the environment variable CXX names '{named}', which is not there",
                help="set it to the path of a C++ compiler, or unset it to use g++",
            )
        return None
    return Cxx(Path(path), _version(path))


def need_cxx() -> Cxx:
    """The compiler; ToolError W401 where there is none."""
    cxx = find_cxx()
    if cxx is None:
        raise ToolError(
            "W401",
            "g++ is not on PATH",
            help="install it (Debian: apt install g++), or name a compiler in CXX",
        )
    return cxx
