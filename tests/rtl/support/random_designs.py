"""Random programs under random schedules, as RTL."""

from __future__ import annotations

import random

from backends.rtl.front.lower import graph_of
from backends.rtl.generate import Options, generate
from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import ToolError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from tests.rtl.front_support import compared, hardware_walk, raw_bits
from tests.rtl.support.batch import Case
from tests.support.profiles import BALANCED, FAST, GATHER, SCATTER, Profile
from tests.support.random_programs import random_program

PERIODS = (3.0, 5.0, 8.0, 12.0)
SETS = 2
LONG_RUNS = 100_000


def profile_of(seed: int) -> Profile:
    """Mostly small programs: they find the same faults in less time. In long runs some access memory at data."""
    if seed >= LONG_RUNS and seed % 3 == 1:
        return SCATTER if seed % 2 else GATHER
    return BALANCED if seed % 3 == 0 else FAST


def random_design(seed: int) -> tuple[Program, Schedule]:
    """The program and the schedule of a seed."""
    program = random_program(seed, profile_of(seed))
    return program, hardware_walk(random.Random(seed), program, seed % 4).schedule


def random_case(seed: int, bram_latency: int = 1) -> Case | None:
    """The design of a seed with data; None where there is no hardware for it (W460, W461).

    All designs of a batch need the same ``bram_latency``.

    Raises:
        AssertionError: Its graph does not compute what the interpreter does.
    """
    program, schedule = random_design(seed)
    design = compile_design(program, schedule)
    try:
        graph = graph_of(design.module, design.scheduled.reassociated)
    except ToolError as error:
        if error.code not in ("W460", "W461"):
            raise
        return None
    rng = random.Random(seed)
    options = Options(period_ns=rng.choice(PERIODS), bram_latency=bram_latency)
    sets = []
    for n in range(SETS):
        inputs = random_inputs(program, seed + n)
        fault, _ = compared(program, graph, inputs, schedule)
        assert fault is None, f"the graph: {fault}"
        arrays = {a.name: raw_bits(a.dtype, inputs[a.name]) for a in program.arguments if a.shape}
        scalars = {
            a.name: raw_bits(a.dtype, inputs[a.name])[0] for a in program.arguments if not a.shape
        }
        sets.append((arrays, scalars))
    return Case(generate(graph, options), graph, sets)
