"""What a Vitis HLS project consists of, by name: the input of the Tcl, cfg and Makefile writers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from backends.devices import Device
from dsl.errors.errors import ToolError

# A name that is the same word in C++, Tcl, make, a cfg file and a file system.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.]*(/[A-Za-z0-9_][A-Za-z0-9_.]*)*")

PROJECT = "hls"  # folder of the Tcl flow's project
SOLUTION = "solution1"
WORK = "work"  # --work_dir of the unified flow


def checked_name(name: str) -> str:
    """`name`, if it can name a C++ function and files; else a ToolError.

    The letters of every such name are safe in a path, in Tcl, in make and in a cfg file.

    Raises:
        ToolError: W404: it has other characters, or is too long.
    """
    if not _NAME.fullmatch(name):
        raise ToolError(
            "W404",
            f"the kernel's name {name!r} cannot name a C++ function",
            help="use up to 200 ASCII letters, digits and underscores, no digit first",
        )
    return name


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """The files of a project, relative to its folder, and what to make of them.

    ``clock`` is the target period in ns. ``ap_types``: the kernel uses Xilinx's ap_int or ap_fixed.
    ``unsafe_math``: sums of floats may be done in any order, so the tool is told to make trees.
    ``uncertainty``: share of the period that the tool is told to keep free, None for its own.
    ``only_asked``: the tool is told to pipeline no loop of which the schedule does not say so.
    ``flushing``: processes wait for each other both ways, so pipelines must not stall as a whole.
    """

    top: str
    device: Device
    clock: float
    data: tuple[str, ...]
    headers: tuple[str, ...] = ()
    ap_types: bool = False
    unsafe_math: bool = False
    flushing: bool = False
    uncertainty: float | None = None
    only_asked: bool = False

    def __post_init__(self) -> None:
        checked_name(self.top)
        for path in (*self.data, *self.headers):
            if not _FILE.fullmatch(path):
                raise ValueError(f"{path!r} is no plain relative path")
        if not 0.1 <= self.clock <= 1000:
            raise ToolError(
                "W405", f"a clock period of {self.clock:g} ns is not between 0.1 and 1000"
            )
        if not self.device.vitis:
            raise ToolError(
                "W403",
                f"Vitis HLS does not know the device '{self.device.name}' ({self.device.part})",
                help="choose an AMD device",
            )

    @property
    def source(self) -> str:
        """The kernel."""
        return f"{self.top}.cpp"

    @property
    def testbench(self) -> str:
        """The C++ testbench."""
        return f"tb_{self.top}.cpp"

    @property
    def margin(self) -> str | None:
        """The uncertainty as the tool takes it, in percent."""
        return None if self.uncertainty is None else f"{100 * self.uncertainty:g}%"

    @property
    def period(self) -> str:
        """The clock period in ns, as text."""
        return f"{self.clock:g}"
