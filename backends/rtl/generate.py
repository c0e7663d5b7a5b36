"""From a kernel to RTL: `generate` is what the rest of Weft calls."""

from __future__ import annotations

from dataclasses import dataclass

from backends.rtl.control.emit import emit
from backends.rtl.design import RtlDesign
from backends.rtl.graph import Graph
from backends.rtl.operators.library import Key, Spec, spec
from backends.rtl.schedule.normal import normalise
from backends.rtl.schedule.regions import Target, schedule
from backends.rtl.schedule.result import ScheduledGraph
from backends.rtl.schedule.timing import Fabric, SpecOf


@dataclass(frozen=True, slots=True)
class Options:
    """What a design is made for.

    Attributes:
        period_ns: clock period that the schedule aims at.
        device: of the operator library.
        bram_latency: cycles of a RAM read: 1, or 2 with output registers.
        effort: deterministic seconds of CP-SAT for each interval, or depth of straight code, that
            list scheduling missed; 0 leaves it out. Needs the group ``rtl``.
    """

    period_ns: float = 10.0
    device: str = "ecp5-85k"
    bram_latency: int = 1
    effort: float = 0.0


def generate(graph: Graph, options: Options | None = None) -> RtlDesign:
    """Schedule a kernel and make its RTL.

    Args:
        graph: Of `backends.rtl.front`.
        options: By default 100 MHz on ECP5.

    Raises:
        ValueError: A period or latency that is none.
        ToolError: W470, effort is asked for and OR-Tools is not installed.
    """
    options = options or Options()
    scheduled = scheduled_of(graph, options)
    return emit(scheduled, specs(options), options.bram_latency)


def specs(options: Options) -> SpecOf:
    """The operators of a design."""
    known: dict[Key, Spec] = {}

    def spec_of(key: Key) -> Spec:
        if key not in known:
            known[key] = spec(key, options.period_ns, options.device)
        return known[key]

    return spec_of


def scheduled_of(graph: Graph, options: Options) -> ScheduledGraph:
    """A kernel with all its cycles; raises as `generate` does."""
    if options.period_ns <= 0 or options.bram_latency not in (1, 2):
        raise ValueError(f"no clock or memory to aim at: {options}")
    fabric = Fabric(read_latency=options.bram_latency)
    target = Target(options.period_ns, fabric, specs(options), options.effort)
    return schedule(normalise(graph), target)
