"""Modules as Yosys makes them of an ECP5's cells."""

from __future__ import annotations

from pathlib import Path

from backends.rtl.ir import Module, to_verilog
from backends.rtl.tools import Outcome, find_yosys, synthesise
from backends.rtl.tools.result import Synthesis


def synthesised(module: Module, folder: Path) -> Synthesis:
    """What Yosys makes of a module and says about it."""
    done = synthesise(find_yosys(), to_verilog(module), module.name, "ecp5", folder)
    assert done.outcome is Outcome.OK
    return done
