"""Resources and clock period of a module."""

from __future__ import annotations

from math import log

from backends.rtl.area.cells import cells
from backends.rtl.area.costs import LUTS, PERIOD
from backends.rtl.area.timing import paths
from backends.rtl.ir.module import Module
from backends.rtl.tools.result import Resources


def area(module: Module) -> Resources:
    """What a module takes with all that it instantiates: what routing is expected to say."""
    found = cells(module)
    luts = sum(cost * found[kind] for kind, cost in LUTS.items())
    return Resources(round(luts), found["flops"], found["multipliers"], found["block_rams"])


def period(module: Module) -> float:
    """The clock period in ns that routing is expected to reach."""
    found = causes(paths(module).inside, area(module).lut)
    return sum(cost * cause for cost, cause in zip(PERIOD, found, strict=True))


def causes(longest: float, luts: float) -> tuple[float, float, float]:
    """What `PERIOD` has costs of: a constant, the longest path in ns, the logarithm of the LUT."""
    return 1.0, max(0.0, longest), log(max(1.0, luts))
