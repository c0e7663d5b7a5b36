"""The typed register-transfer language of the RTL backend, its checker and its Verilog printer.

`expr` has expressions of an exact width and their operators, `nodes` what they can be, `fold` makes
them; `build` makes modules, `check` holds them, `verilog` prints them. Nothing here knows of
kernels or schedules.
"""

from __future__ import annotations

from backends.rtl.ir import fold
from backends.rtl.ir.build import ModuleBuilder
from backends.rtl.ir.check import NetlistError
from backends.rtl.ir.expr import Expr, WidthError
from backends.rtl.ir.fold import all_of, any_of, concat, lit, mux, repeat
from backends.rtl.ir.module import Memory, Module, Style
from backends.rtl.ir.nodes import Lit, Ref
from backends.rtl.ir.verilog import to_verilog

Expr.fold = fold  # its operators fold, and what they make stands on it

__all__ = [
    "Expr",
    "Lit",
    "Memory",
    "Module",
    "ModuleBuilder",
    "NetlistError",
    "Ref",
    "Style",
    "WidthError",
    "all_of",
    "any_of",
    "concat",
    "lit",
    "mux",
    "repeat",
    "to_verilog",
]
