"""Kernels under schedules that put arrays into memory outside, as RTL behind AXI."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from backends.reference import reference
from backends.rtl.axi.simulate import AxiSimulation, Memory, compiled, run
from backends.rtl.axi.wrapper import AxiDesign, axi_design
from backends.rtl.front.lower import graph_of
from backends.rtl.generate import Options, generate
from backends.rtl.tools import find_verilator
from dsl.errors.errors import ToolError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import BindStorage, Interface, Partition
from mlir_passes.pipeline import compile_design
from polyhedral.requests.outside import word_bits
from tests.rtl.support.random_designs import random_design


@dataclass(frozen=True)
class Built:
    """A kernel, its schedule, and both behind AXI."""

    program: Program
    schedule: Schedule
    design: AxiDesign


def built(program: Program, schedule: Schedule, latency: int = 1) -> Built:
    """Behind AXI; some array of it is outside."""
    compiled = compile_design(program, schedule)
    options = Options(bram_latency=latency)
    design = generate(graph_of(compiled.module, compiled.scheduled.reassociated), options)
    made = axi_design(design, compiled.module, options)
    assert made is not None
    return Built(program, schedule, made)


def simulated(
    what: Built, memories: list[Memory], folder: Path, runtime: Path | None = None, trials: int = 2
) -> list[AxiSimulation]:
    """What comes of it with each memory."""
    rights = [reference(what.program, what.schedule, 3 + t, None) for t in range(trials)]
    simulator = compiled(what.design, find_verilator(), folder, runtime)
    assert simulator.program is not None, simulator.message
    return [run(what.design, what.program, simulator, rights, m) for m in memories]


def random_outside(seed: int) -> Built | None:
    """A random program under a random schedule, with some arrays outside; None where there is no hardware for it."""
    rng = random.Random(f"outside {seed}")
    program, schedule = random_design(seed)
    parted = {s.array for s in schedule if isinstance(s, Partition | BindStorage)}
    parted |= {s.argument for s in schedule if isinstance(s, Interface)}
    arrays = [a for a in program.arguments if a.shape and a.name not in parted]
    outside = [a for a in arrays if rng.random() < 0.9]
    ports: dict[str, tuple[int, int, int]] = {}
    steps = []
    for array in outside:
        bundle = rng.choice("abc")
        width, burst, outstanding = ports.setdefault(
            bundle, (rng.choice([64, 128, 512]), rng.choice([2, 8, 32]), rng.choice([1, 2, 16]))
        )
        if word_bits(array.dtype) > width:
            continue
        steps.append(
            Interface(
                array.name, "m_axi", bundle, width=width, burst=burst, outstanding=outstanding
            )
        )
    if not steps:
        return None
    try:
        return built(program, Schedule((*steps, *schedule)), 1 + seed % 2)
    except ToolError as error:
        if error.code not in ("W460", "W461"):
            raise
        return None
