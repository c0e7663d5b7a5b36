"""A kernel under a schedule all the way: RTL, simulation, synthesis, placement and routing."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from backends.process import Limits
from backends.rtl.axi.predict import memory_cycles
from backends.rtl.axi.simulate import LATENCY, AxiSimulation, Memory
from backends.rtl.axi.simulate import simulate as simulate_axi
from backends.rtl.axi.wrapper import AxiDesign, axi_design
from backends.rtl.design import RtlDesign
from backends.rtl.front.lower import graph_of, lanes_for
from backends.rtl.generate import Options, generate
from backends.rtl.graph import Kind
from backends.rtl.ir import to_verilog
from backends.rtl.operators.library import Key, spec
from backends.rtl.simulate import Simulation, simulate
from backends.rtl.tools import (
    Cache,
    Outcome,
    Resources,
    Routing,
    Synthesis,
    find_nextpnr,
    find_verilator,
    find_yosys,
    implement,
    synthesise,
)
from backends.rtl.tools.nextpnr import DEVICES
from backends.rtl.wrap.host import host_wrapper
from dsl.arrays.inputs import InputMaker
from dsl.errors.errors import ToolError, did_you_mean
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Reassociate

XC7 = "xc7"
"""Xilinx 7 series: there is no open placement with timing, so it ends after synthesis."""

TARGETS = (*DEVICES, XC7)
DEFAULT_TARGET = "ecp5-85k"


@dataclass(frozen=True, slots=True)
class SynthOptions:
    """What is run, and for what.

    Attributes:
        device: one of `TARGETS`.
        period_ns: clock period that the schedule and the router aim at.
        bram_latency: see `backends.rtl.generate.Options`.
        seeds: of the placer; the clock is the median of theirs.
        simulation: whether the design is simulated.
        trials: sets of inputs of the simulation.
        native: tools on PATH instead of the packages of the group ``rtl``.
        seconds: limit of synthesis and of each routing.
        cache: folder of results; None keeps none.
    """

    device: str = DEFAULT_TARGET
    period_ns: float = 10.0
    bram_latency: int = 1
    seeds: tuple[int, ...] = (1,)
    simulation: bool = True
    trials: int = 1
    native: bool = False
    seconds: float = 1800.0
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class SynthReport:
    """What came of it.

    Attributes:
        design: the RTL.
        outcome: of the tools; ``wrong`` where the simulation differs from the reference.
        provenance: of ``resources`` and ``fmax``.
        resources: of the kernel with the banks of its arguments and a host bus
            (`backends.rtl.wrap.host`), or behind AXI where arrays are in memory outside; None where the tools
            failed.
        routings: one for each seed.
        fmax: MHz, median of the seeds; None after synthesis only.
        simulation: None where it was not asked for.
        tools: names and versions.
        seconds: of each stage.
        message: why it failed.
        axi: the kernel behind AXI, where arrays of it are in memory outside.
        outside: the simulation of that with memory that answers after `LATENCY` cycles.
    """

    design: RtlDesign
    outcome: Literal["ok", "wrong", "does not fit", "time-out", "failed"]
    provenance: Literal["post-route", "post-synth"]
    resources: Resources | None = None
    routings: tuple[Routing, ...] = ()
    fmax: float | None = None
    simulation: Simulation | None = None
    tools: tuple[tuple[str, str], ...] = ()
    seconds: dict[str, float] = field(default_factory=dict, hash=False)
    message: str = ""
    axi: AxiDesign | None = None
    outside: AxiSimulation | None = None

    @property
    def memory_cycles(self) -> int | None:
        """Cycles from start to done with memory outside that answers after `LATENCY` cycles: as simulated, or else as
        predicted; None where there is none.
        """
        if self.outside is not None and self.outside.cycles:
            return self.outside.cycles[0]
        return None if self.axi is None else memory_cycles(self.axi, LATENCY)

    @property
    def latency_us(self) -> float | None:
        """Wall-clock latency at the clock that was reached, in microseconds; None where cycles are not known."""
        cycles = self.design.cycles if self.axi is None else self.memory_cycles
        return None if self.fmax is None or cycles is None else cycles / self.fmax


def default_cache() -> Path:
    """``$XDG_CACHE_HOME/weft/rtl``, in the home folder if that is not set."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "weft" / "rtl"


def checked_device(name: str) -> None:
    """That there is such a device.

    Raises:
        ToolError: W403 there is none.
    """
    if name not in TARGETS:
        help_line = did_you_mean(name, TARGETS)
        help_line = help_line or f"those that can be built for are {', '.join(TARGETS)}"
        raise ToolError("W403", f"no device is called '{name}' here", help=help_line)


def rtl_of(module: Any, schedule: Schedule, options: SynthOptions) -> RtlDesign:
    """The RTL of a level 3 module.

    Args:
        module: of `mlir_passes.pipeline.Design`.
        schedule: what it may reassociate.
        options: device and clock.

    Raises:
        ToolError: W403 no such device; what the backend has no hardware for.
    """
    checked_device(options.device)
    made_for = options_of(options)
    relaxed = frozenset(s.stmt for s in schedule if isinstance(s, Reassociate))
    adder = spec(Key(Kind.FADD, 32, ((32, False),) * 2), options.period_ns, DEFAULT_TARGET)
    lanes = lanes_for(adder.latency + options.bram_latency)
    return generate(graph_of(module, relaxed, lanes=lanes), made_for)


def options_of(options: SynthOptions) -> Options:
    """What RTL is generated for."""
    # There is one characterised library; xc7 uses its delays, and says no clock.
    return Options(options.period_ns, DEFAULT_TARGET, options.bram_latency)


def synth(
    program: Program,
    schedule: Schedule,
    module: Any,
    options: SynthOptions,
    *,
    make_inputs: InputMaker | None = None,
    folder: Path | None = None,
    heard: Callable[[str], None] = lambda _: None,
) -> SynthReport:
    """Generate, simulate, synthesise, place and route.

    Args:
        program: The kernel.
        schedule: How.
        module: Level 3 of both.
        options: What is run.
        make_inputs: Of the simulation; None for random ones.
        folder: Where the tools work; a temporary one by default.
        heard: Told of each stage as it begins: each may take minutes.

    Raises:
        ToolError: A tool is not installed; a device or an operation that there is not.
    """
    heard("generate RTL")
    start = time.perf_counter()
    design = rtl_of(module, schedule, options)
    axi = axi_design(design, module, options_of(options))
    provenance: Literal["post-route", "post-synth"]
    provenance = "post-synth" if options.device == XC7 else "post-route"
    report = SynthReport(design, "ok", provenance, axi=axi)
    report.seconds["generate"] = time.perf_counter() - start
    if options.simulation:
        heard("simulate")
        report = _simulated(report, program, schedule, options, make_inputs)
        if report.outcome == "ok" and axi is not None:
            heard("simulate with memory outside")
            report = _with_memory(report, axi, program, schedule, options, make_inputs)
        if report.outcome != "ok":
            return report
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return _implemented(report, options, folder, heard)
    with tempfile.TemporaryDirectory(prefix="weft-synth-") as name:
        return _implemented(report, options, Path(name), heard)


def _simulated(
    report: SynthReport,
    program: Program,
    schedule: Schedule,
    options: SynthOptions,
    make_inputs: InputMaker | None,
) -> SynthReport:
    tool = find_verilator(native=options.native)
    found = simulate(
        *(report.design, program, schedule, tool),
        trials=options.trials,
        make_inputs=make_inputs,
        runtime=None if options.cache is None else options.cache / "runtime",
        cache=None if options.cache is None else Cache(options.cache / "results"),
    )
    report.seconds["simulate"] = found.seconds
    tools = (*report.tools, (tool.name, tool.version))
    outcome: Literal["ok", "wrong", "time-out", "failed"]
    match found.verdict:
        case "ok" | "vacuous":
            outcome = "ok"
        case "mismatch" | "cycles":
            outcome = "wrong"
        case "timeout":
            outcome = "time-out"
        case "failed":
            outcome = "failed"
    return replace(report, outcome=outcome, simulation=found, tools=tools, message=found.detail)


STALLS = 30
"""Percent of the cycles in which each channel of memory stalls, in a second simulation: data must not care."""


def _with_memory(
    report: SynthReport,
    axi: AxiDesign,
    program: Program,
    schedule: Schedule,
    options: SynthOptions,
    make_inputs: InputMaker | None,
) -> SynthReport:
    """The kernel behind AXI, with memory that is always ready and with one that stalls."""
    first, second = simulate_axi(
        *(axi, program, schedule, find_verilator(native=options.native)),
        memories=(Memory(), Memory(stall=STALLS)),
        trials=options.trials,
        make_inputs=make_inputs,
        runtime=None if options.cache is None else options.cache / "runtime",
    )
    report.seconds["simulate"] += first.seconds
    wrong = next((found for found in (first, second) if found.verdict != "ok"), None)
    outcome: Literal["ok", "wrong", "time-out", "failed"] = "ok"
    if wrong is not None:
        outcomes: dict[str, Literal["wrong", "time-out"]]
        outcomes = {"mismatch": "wrong", "timeout": "time-out"}
        outcome = outcomes.get(wrong.verdict, "failed")
    message = "" if wrong is None else f"with memory outside: {wrong.detail}"
    return replace(report, outcome=outcome, outside=first, message=message)


def _implemented(
    report: SynthReport, options: SynthOptions, folder: Path, heard: Callable[[str], None]
) -> SynthReport:
    """Yosys, and nextpnr where the device has it."""
    measured = report.axi.module if report.axi else host_wrapper(report.design).module
    verilog, top = to_verilog(measured), measured.name
    limits = Limits(seconds=options.seconds)
    cache = None if options.cache is None else Cache(options.cache / "results")
    yosys = find_yosys(native=options.native)
    if options.device == XC7:
        heard("synthesise")
        made = synthesise(
            yosys, verilog, top, XC7, folder, limits=limits, cache=cache, netlist=False
        )
        report.seconds["synthesise"] = made.seconds
        return replace(
            report,
            outcome=_outcome(made.outcome),
            resources=made.resources,
            tools=(*report.tools, (yosys.name, yosys.version)),
            message=made.message if made.outcome is not Outcome.OK else "",
        )
    nextpnr = find_nextpnr(native=options.native)
    result = implement(
        *((yosys, nextpnr), verilog, top, options.device, folder),
        seeds=options.seeds,
        mhz=1000 / options.period_ns,
        limits=(limits, limits),
        cache=cache,
        pins=report.axi is None,
        heard=heard,
    )
    report.seconds["synthesise"] = result.synthesis.seconds
    report.seconds["route"] = sum(r.seconds for r in result.routings)
    steps: tuple[Synthesis | Routing, ...] = (result.synthesis, *result.routings)
    wrong = next((s for s in steps if s.outcome is not Outcome.OK), None)
    routed = next((r.resources for r in result.routings if r.resources is not None), None)
    return replace(
        report,
        outcome=_outcome(result.outcome),
        resources=routed,
        routings=result.routings,
        fmax=result.fmax,
        tools=(*report.tools, (yosys.name, yosys.version), (nextpnr.name, nextpnr.version)),
        message="" if wrong is None else wrong.message,
    )


def _outcome(outcome: Outcome) -> Literal["ok", "does not fit", "time-out", "failed"]:
    match outcome:
        case Outcome.OK:
            return "ok"
        case Outcome.NO_FIT:
            return "does not fit"
        case Outcome.TIMEOUT:
            return "time-out"
        case Outcome.FAILED:
            return "failed"
