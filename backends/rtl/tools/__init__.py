"""The open tools as subprocesses with limits: Verilator, Yosys and nextpnr, and a cache of results.

A tool that crashes, takes too long or finds that a design does not fit has given a result
(`result.Outcome`); only a tool that is not installed is an error (W470).
"""

from __future__ import annotations

from backends.rtl.tools.cache import Cache
from backends.rtl.tools.find import Tool, find_nextpnr, find_verilator, find_yosys
from backends.rtl.tools.flow import Implementation, implement
from backends.rtl.tools.nextpnr import route
from backends.rtl.tools.result import Outcome, Resources, Routing, Synthesis
from backends.rtl.tools.verilator import Simulator, build, lint
from backends.rtl.tools.yosys import check, synthesise

__all__ = [
    "Cache",
    "Implementation",
    "Outcome",
    "Resources",
    "Routing",
    "Simulator",
    "Synthesis",
    "Tool",
    "build",
    "check",
    "find_nextpnr",
    "find_verilator",
    "find_yosys",
    "implement",
    "lint",
    "route",
    "synthesise",
]
