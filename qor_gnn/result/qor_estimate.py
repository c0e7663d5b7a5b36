"""`QorEstimate`: what a design costs, whoever says so."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Literal

from qor_gnn.area.terms import Sums
from qor_gnn.dataflow.region import RegionTime
from qor_gnn.design.region import Trips
from qor_gnn.result.text import aligned, loop_name, seconds, trips
from qor_gnn.routed.predict import Routed
from qor_gnn.schedule.clock import Clock
from qor_gnn.schedule.reasons import Limit, Step
from qor_gnn.schedule.traffic import Traffic

Provenance = Literal["model", "gnn", "csynth", "cosim", "rtl-sim", "post-synth", "post-route"]


@dataclass(frozen=True, slots=True)
class Cycles:
    """A latency in cycles: over all executions, and as the tool reports it from trip counts.

    ``minimum`` and ``maximum`` take every loop at its least and its most iterations.
    """

    average: float
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class LoopEstimate:
    """One loop, or nest flattened into one.

    Attributes:
        function: the function that it is in.
        loops: names of the loops, outermost first; several where they were flattened.
        kind: ``pipeline``, ``sequential`` or ``nest`` (a sequential loop with regions inside).
        level: how many regions are around it.
        copies: how often it is there: copies of an unrolled loop around it.
        trips: iterations each time that it is entered, of the unrolled loop.
        unroll: copies of the innermost loop's body.
        asked: the interval that was asked for; None where it is not pipelined.
        ii: the interval; of a loop whose iterations do not overlap the iteration latency.
        depth: the iteration latency, as the tool reports it.
        latency: cycles each time that it is entered.
        limits: what bounds the interval from below, the strongest first.
        path: the critical path of an iteration.
        units: that it needs of each core by itself; a design shares them between its loops.
        dsp: of these units and of its addresses; 0 of a nest, whose loops have them.
        statements: names of the statements inside.
        slowest: the first statement of the slowest process, where the body is a dataflow region.
        unrolled: names of loops inside that the tool unrolls without anybody's asking.
    """

    function: str
    loops: tuple[str, ...]
    kind: Literal["pipeline", "sequential", "nest"]
    level: int
    copies: int
    trips: Trips
    unroll: int
    asked: int | None
    ii: float
    depth: float
    latency: Cycles
    limits: tuple[Limit, ...]
    path: tuple[Step, ...]
    units: tuple[tuple[str, int], ...]
    dsp: int
    statements: tuple[str, ...]
    slowest: str = ""
    unrolled: tuple[str, ...] = ()

    @property
    def overlaps(self) -> bool:
        """An iteration begins before the one before it is done."""
        return self.kind == "pipeline" or bool(self.slowest)


@dataclass(frozen=True, slots=True)
class QorEstimate:
    """What a design costs, and where the numbers came from.

    ``None`` is what was not estimated. Memories are counted in BRAM18; ``bram18_range`` has the least and the most of
    them, where it goes by the ports that arrays have in the tool; ``both_ports`` are those of which a bank is taken to be
    read, or written, through both in one state. ``period_ns`` is what the
    design can be run at: ``clock_ns``, or what csynth is expected to estimate where that is more; of the
    open backend what is expected after routing, above or below. ``clock`` says why, of HLS tools.
    ``sums`` is what LUT and FF were summed from, memories included, for predictors that fit them
    anew. ``region`` is the dataflow region, if it is one.
    ``directives`` has what the tool makes of each directive that it does not do as it is written, where
    that was asked for. ``routed`` is what placement and routing are expected to make of it, where that was asked for.
    ``traffic`` is what passes between it and memory outside.
    """

    kernel: str
    latency: Cycles
    loops: tuple[LoopEstimate, ...]
    units: tuple[tuple[str, int], ...]
    dsp: int
    provenance: Provenance
    tool: str
    device: str
    clock_ns: float
    lut: int | None = None
    ff: int | None = None
    bram18: int | None = None
    uram: int | None = None
    bram18_range: tuple[int, int] | None = None
    both_ports: tuple[str, ...] = ()
    period_ns: float | None = None
    clock: Clock | None = None
    sums: Sums | None = field(default=None, compare=False, repr=False)
    region: RegionTime | None = None
    directives: tuple[str, ...] = field(default=(), compare=False)
    routed: Routed | None = field(default=None, compare=False)
    traffic: tuple[Traffic, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        """The loops, the total latency and the resources as a table."""
        heads = ("loop", "trips", "II", "depth", "latency", "DSP")
        rows = [
            (
                loop_name(loop),
                trips(loop.trips),
                f"{loop.ii:,.0f}" if loop.overlaps else "",
                f"{loop.depth:,.0f}",
                f"{loop.latency.average:,.0f}",
                str(loop.dsp) if loop.kind != "nest" else "",
            )
            for loop in self.loops
        ]
        cycles = self.latency.average
        time = seconds(cycles * self.clock_ns * 1e-9)
        used = {"DSP": self.dsp, "LUT": self.lut, "FF": self.ff, "BRAM18": self.bram18}
        lines = [f"{self.kernel}: {self.provenance} of {self.tool}, on {self.device}", ""]
        lines += [*aligned(heads, rows, "lrrrrr"), ""] if rows else []
        lines.append(f"latency  {cycles:,.0f} cycles = {time} at {self.clock_ns:g} ns")
        lines.append("  ".join(f"{name} {n:,}" for name, n in used.items() if n is not None))
        lines += [str(self.routed)] if self.routed is not None else []
        return "\n".join([*lines, *self.directives])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
