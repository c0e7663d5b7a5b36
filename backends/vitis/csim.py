"""C simulation without Vitis: a project's testbench, compiled with g++ and run."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from backends.ap_types import need_ap_types
from backends.cxx import need_cxx
from backends.process import Limits, Run, run_limited
from backends.vitis.files import ProjectFiles
from dsl.errors.errors import ToolError


@dataclass(frozen=True, slots=True)
class Csim:
    """Both runs: of the compiler and of the testbench."""

    compilation: Run
    testbench: Run

    @property
    def passed(self) -> bool:
        """The testbench found no difference."""
        return self.testbench.ok

    @property
    def seconds(self) -> float:
        """Wall time of both."""
        return self.compilation.seconds + self.testbench.seconds


def csim(folder: Path, names: ProjectFiles, seconds: float = 600) -> Csim:
    """Compile and run the testbench of the project in `folder`, which stays as it is.

    Args:
        folder: The project.
        names: Its files.
        seconds: Limit of the compiler, and of the testbench.

    Raises:
        ToolError: W401, W410: g++ or the ap_types headers are missing; W411: it does not compile.
    """
    folder = folder.resolve()
    cxx = need_cxx()
    includes = [need_ap_types(names.top).folder] if names.ap_types else []
    with tempfile.TemporaryDirectory(prefix="weft-csim-") as build:
        program = Path(build) / f"tb_{names.top}"
        sources = [folder / names.testbench, folder / names.source]
        compilation = cxx.compile(
            sources, program, includes=includes, limits=Limits(seconds=seconds)
        )
        if not compilation.ok:
            said = [line for line in compilation.log.splitlines() if "error" in line]
            raise ToolError(
                "W411",
                f"g++ does not compile the project {folder}: {compilation.outcome}",
                notes=list(dict.fromkeys(said))[:5],
            )
        testbench = run_limited([program, "data"], Limits(seconds=seconds), cwd=folder)
    return Csim(compilation, testbench)
