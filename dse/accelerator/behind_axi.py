"""Cycles of the open backend's RTL behind AXI, as predicted: the kernel, and what it waits for memory outside."""

from __future__ import annotations

from dse.estimates.estimation import Estimation
from dsl.programs.program import Program


def behind_axi(found: Estimation, program: Program, latency: int) -> int | None:
    """Cycles with memory that answers after so many, and is always ready.

    Args:
        found: the estimate of a design, by the open backend.
        program: without its schedule.
        latency: of its memory, in cycles.

    Returns:
        None where the tool is another one, no array is in memory outside, or it has too many accesses to look at.

    Raises:
        ToolError: W460, a control that is in no register, or two arrays at address 0.
    """
    if not found.setting.tool.is_open or all(m.port is None for m in found.regions.memories):
        return None
    from backends.rtl.axi.predict import memory_cycles
    from backends.rtl.axi.wrapper import axi_design
    from backends.rtl.synth import SynthOptions, options_of, rtl_of
    from mlir_passes.pipeline import compile_design

    design = compile_design(program, found.schedule)
    options = SynthOptions(found.setting.device.name, found.setting.tool.clock_ns)
    made = axi_design(
        rtl_of(design.module, design.schedule, options), design.module, options_of(options)
    )
    return None if made is None else memory_cycles(made, latency)
