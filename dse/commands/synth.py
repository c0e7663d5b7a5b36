"""``weft synth``: a kernel down to a placed and routed FPGA, with open tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dse.commands.of_run import no_run, nothing_but_the_run
from dse.estimates.in_order import in_order_notes
from dse.kernels.target import Target, target, target_options
from dse.views import console
from dse.views.output import format_option, show

if TYPE_CHECKING:
    from backends.rtl.synth import SynthOptions, SynthReport

COLUMNS = (
    *(
        "kernel",
        "schedule",
        "size",
        "status",
        "cycles",
        "memory_cycles",
        "lut",
        "ff",
        "dsp",
        "bram",
    ),
    *("fmax_mhz", "latency_us", "provenance", "device", "seconds"),
)


@click.command()
@click.argument("kernel", metavar="FILE.py:KERNEL|RUN")
@target_options
@click.option("--best", is_flag=True,
              help="Take the best design of RUN, a folder of weft explore.")  # fmt: skip
@click.option("--point", metavar="KEY", help="Take that design of RUN.")
@click.option("--kernel", "spec", metavar="FILE.py:KERNEL",
              help="Run this file for the kernel of RUN. Default: RUN has it as data.")  # fmt: skip
@click.option("--device", default="ecp5-85k", show_default=True, metavar="NAME",
              help="ecp5-25k, ecp5-45k, ecp5-85k, or xc7, which ends after synthesis.")  # fmt: skip
@click.option("--clock", type=click.FloatRange(min=0.5, max=1000), default=10.0,
              show_default=True, metavar="NS", help="The clock period to aim at.")  # fmt: skip
@click.option("--seeds", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N",
              help="Routings, each with its own seed; the clock is their median.")  # fmt: skip
@click.option("--read-latency", type=click.IntRange(1, 2), default=1, show_default=True,
              metavar="N", help="Cycles of a RAM read; 2 has output registers.")  # fmt: skip
@click.option("--trials", type=click.IntRange(0, 1000), default=1, show_default=True, metavar="N",
              help="Sets of inputs to simulate; 0 leaves the simulation out.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Keep the Verilog, its wrappers and the tools' files there.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=1), default=1800, show_default=True,
              metavar="S", help="Limit of synthesis, and of each routing.")  # fmt: skip
@click.option("--native", is_flag=True,
              help="Use the yosys, nextpnr-ecp5 and verilator on PATH.")  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Run every tool, whatever was built before.")
@format_option
def command(
    kernel: str,
    schedule: str | None,
    size: str | None,
    best: bool,
    point: str | None,
    spec: str | None,
    device: str,
    clock: float,
    seeds: int,
    read_latency: int,
    trials: int,
    out: Path | None,
    timeout: float,
    native: bool,
    no_cache: bool,
    form: str,
) -> int:
    """Make RTL of a kernel, simulate, synthesise, place and route it; no vendor tool is needed.

    \b
    weft synth gemm.py:gemm --size mini --schedule pipelined
    weft synth fir.py:fir --device ecp5-85k --clock 8 --seeds 3 --out build/fir
    weft synth RUN --best --out build/best

    RUN is a folder of weft explore: its device and clock are taken where nothing else is said. No Python of
    the folder is run.

    The simulation must give the reference's data in exactly the predicted cycles. The numbers are
    post-route (post-synth for xc7), of the kernel with the memories of its arguments; where a schedule
    puts arrays into memory outside, of the kernel behind AXI, and memory_cycles are those with such a
    memory. Exits with 1 when the design is wrong, does not fit, or a tool fails.
    """
    from backends.rtl.synth import SynthOptions, default_cache, synth
    from mlir_passes.pipeline import compile_design

    if best or point is not None:
        what, device, clock = _of_run(Path(kernel), point, spec, device, clock)
    else:
        no_run(kernel, spec, "--best or --point KEY")
        what = target(kernel, schedule, size)
    options = SynthOptions(
        device,
        clock,
        read_latency,
        tuple(range(1, seeds + 1)),
        trials > 0,
        max(trials, 1),
        native,
        timeout,
        None if no_cache else default_cache(),
    )
    compiled = compile_design(what.program, what.schedule)
    for note in in_order_notes(what.schedule):
        console.say(f"note: {note}")
    tools = None if out is None else out / "tools"
    with console.stages(f"synth {what.kernel.name}") as heard:
        report = synth(
            *(what.program, what.schedule, compiled.module, options),
            make_inputs=what.kernel.make_inputs,
            folder=tools,
            heard=heard,
        )
    if out is not None:
        _write(report, out)
    row = row_of(report, what, options)
    columns = tuple(c for c in COLUMNS if form != "table" or row[c] is not None)
    show("synth", columns, [row], form)
    if form == "table":
        _tell(report)
    return int(report.outcome != "ok")


def _of_run(
    run: Path, point: str | None, spec: str | None, device: str, clock: float
) -> tuple[Target, str, float]:
    """A design of a run, its best one where no point is named, and what for: as the run, unless the command line
    says something else.
    """
    from backends.devices import device as device_named
    from dse.run.chosen import chosen, of_run

    nothing_but_the_run(("schedule", "size"))
    design = chosen(run, point)
    said = click.get_current_context().get_parameter_source
    if said("device") is not click.core.ParameterSource.COMMANDLINE:
        device = device_named(design.device).name
    if said("clock") is not click.core.ParameterSource.COMMANDLINE:
        clock = design.clock
    console.say(f"synth: design {design.key[:12]} of {run}")
    return of_run(design, spec), device, clock


def row_of(report: SynthReport, what: Target, options: SynthOptions) -> dict[str, object]:
    """One line of the result; what is not known is None."""
    used, simulation = report.resources, report.simulation
    simulated = simulation is not None and simulation.verdict == "ok"
    memory, waited = report.memory_cycles, report.outside is not None and report.outside.cycles
    return {
        "kernel": what.kernel.name,
        "schedule": what.schedule_name,
        "size": what.size,
        "status": report.outcome,
        "cycles": report.design.cycles,
        "cycles_provenance": "rtl-sim" if simulated else "model",
        "memory_cycles": memory,
        "memory_provenance": memory and ("rtl-sim" if waited else "model"),
        "lut": used and used.lut,
        "ff": used and used.ff,
        "dsp": used and used.dsp,
        "bram": used and used.bram,
        "fmax_mhz": report.fmax,
        "latency_us": report.latency_us,
        "provenance": report.provenance if used else None,
        "device": options.device,
        "clock_ns": options.period_ns,
        "simulation": simulation and simulation.verdict,
        "seeds": [[r.seed, r.fmax] for r in report.routings],
        "tools": dict(report.tools),
        "seconds": round(sum(report.seconds.values()), 1),
        "stages": report.seconds,
        "message": report.message or None,
        "notes": list(in_order_notes(what.schedule)),
    }


def _tell(report: SynthReport) -> None:
    for region in report.design.regions:
        loops = ".".join(region.loops) or "top"
        interval = f"II {region.ii}" + (f" of {region.asked}" if region.why else "")
        text = f"{loops}: {region.kind}, " + (f"{interval}, " if region.ii else "")
        console.say(f"{text}depth {region.depth}" + (f" ({region.why})" if region.why else ""))
    from backends.rtl.axi.simulate import LATENCY

    simulation = report.simulation
    if simulation is not None:
        console.say(f"simulation: {simulation.verdict}, {simulation.cycles} cycles")
    outside = report.outside
    if outside is not None and outside.cycles:
        read, written = (sum(beats) for beats in zip(*outside.beats, strict=True))
        console.say(
            f"with memory outside: {outside.verdict}, {outside.cycles[0]} cycles where it answers after "
            f"{LATENCY}; {read} beats read, {written} written"
        )
    if report.message:
        console.say(report.message)


def _write(report: SynthReport, out: Path) -> None:
    """The kernel, and what is around it, as Verilog-2005: wrappers with memories on the chip, or AXI."""
    from backends.rtl.axi.files import files
    from backends.rtl.ir import to_verilog
    from backends.rtl.wrap.axi_lite import axi_lite_wrapper
    from backends.rtl.wrap.host import host_wrapper

    out.mkdir(parents=True, exist_ok=True)
    name = report.design.top.name
    texts = {f"{name}.v": report.design.verilog}
    if report.axi is not None:
        texts |= files(report.axi)
    else:
        texts[f"{name}_host.v"] = to_verilog(host_wrapper(report.design).module)
        texts[f"{name}_axi.v"] = to_verilog(axi_lite_wrapper(report.design).module)
    for file, text in texts.items():
        (out / file).write_text(text, encoding="utf-8")
