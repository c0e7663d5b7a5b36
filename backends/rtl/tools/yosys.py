"""Synthesis by Yosys: to an ECP5 netlist that nextpnr places, or to Xilinx 7-series cells."""

from __future__ import annotations

import json
from pathlib import Path

from backends.process import Limits, Run
from backends.rtl.tools.cache import Cache
from backends.rtl.tools.find import Tool
from backends.rtl.tools.result import (
    Outcome,
    Resources,
    Synthesis,
    ecp5_resources,
    xc7_resources,
)

DESIGN, NETLIST, STATISTICS = "design.v", "netlist.json", "cells.json"
LIMITS = Limits(seconds=900)
COMMANDS = {
    # The wide LUTs that two to eight LUT4 make: without them float adders are a third smaller, at
    # 0 to 7% less clock.
    "ecp5": f"synth_ecp5 -nowidelut -top {{top}} -json {NETLIST}",
    # xcup does not pack the registers of its DSPs; xc7 does.
    "xc7": "synth_xilinx -family xc7 -flatten -top {top}",
}


def synthesise(
    tool: Tool,
    verilog: str,
    top: str,
    family: str,
    folder: Path,
    *,
    limits: Limits = LIMITS,
    cache: Cache | None = None,
    netlist: bool = True,
) -> Synthesis:
    """Synthesise a design.

    Args:
        tool: From `find.find_yosys`.
        verilog: The whole text.
        top: Its top module, a simple identifier.
        family: ``ecp5`` or ``xc7``.
        folder: Where it works; ``netlist.json`` of an ECP5 design is left there.
        limits: Of the run; 900 s by default.
        cache: Where results are kept.
        netlist: Whether the netlist is needed: then an answer from the cache is none.
    """
    if not top.isidentifier() or not top.isascii():
        raise ValueError(f"{top!r} is no simple identifier")
    command = COMMANDS[family].format(top=top)
    key = ("yosys", tool.version, command, verilog)
    needed = netlist and family == "ecp5"
    if cache is not None and not needed and (known := cache.get(key)) is not None:
        return _from_json(known)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DESIGN).write_text(verilog, encoding="utf-8")
    # Checked before as well: synthesis makes one of two drivers go away.
    first = f"read_verilog {DESIGN}; hierarchy -check -top {top}; proc; check -assert"
    script = f"{first}; {command}; check -assert; tee -q -o {STATISTICS} stat -json"
    run = tool.run(["-q", "-p", script], folder, limits)
    message = "\n".join(run.tail())
    if run.timed_out:
        return Synthesis(Outcome.TIMEOUT, None, (), run.seconds, message)
    if not run.ok:
        return Synthesis(Outcome.FAILED, None, (), run.seconds, f"{run.outcome}\n{message}")
    try:
        cells = _cells(folder / STATISTICS)
    except (OSError, ValueError):  # it ends well where the disk is full
        return Synthesis(Outcome.FAILED, None, (), run.seconds, not_whole(STATISTICS))
    count = ecp5_resources if family == "ecp5" else xc7_resources
    result = Synthesis(Outcome.OK, count(cells), tuple(sorted(cells.items())), run.seconds, message)
    if cache is not None:
        cache.put(key, _to_json(result))
    return result


def check(tool: Tool, verilog: str, top: str, folder: Path, limits: Limits = LIMITS) -> Run:
    """Read a design and ``check -assert`` it, without synthesis: ok where nothing is wrong."""
    if not top.isidentifier() or not top.isascii():
        raise ValueError(f"{top!r} is no simple identifier")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DESIGN).write_text(verilog, encoding="utf-8")
    script = f"read_verilog {DESIGN}; hierarchy -check -top {top}; proc; check -assert"
    return tool.run(["-q", "-p", script], folder, limits)


def not_whole(name: str) -> str:
    """What is said of a file that a tool left half written."""
    return f"{name} is not whole, though the tool ended well: there may be no room on the disk"


def _cells(path: Path) -> dict[str, int]:
    found = json.loads(path.read_text(encoding="utf-8"))["design"]["num_cells_by_type"]
    return {name: int(n) for name, n in found.items() if not name.startswith("$")}


def _to_json(s: Synthesis) -> object:
    assert s.resources is not None
    r = s.resources
    return {
        "resources": [r.lut, r.ff, r.dsp, r.bram],
        "cells": [list(c) for c in s.cells],
        "seconds": s.seconds,
    }


def _from_json(data: dict[str, object]) -> Synthesis:
    resources, cells, seconds = data["resources"], data["cells"], data["seconds"]
    assert isinstance(resources, list)
    assert isinstance(cells, list)
    assert isinstance(seconds, float)
    return Synthesis(Outcome.OK, Resources(*resources), tuple((n, c) for n, c in cells), seconds)
