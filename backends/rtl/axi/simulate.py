"""A kernel behind AXI in Verilator, with memory that answers late, against the reference interpreter."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.compare import difference
from backends.process import Limits
from backends.reference import Reference, reference
from backends.rtl.axi.testbench import main_program, pack, unpack
from backends.rtl.axi.wrapper import AxiDesign
from backends.rtl.simulate import LONG, SECONDS, raw_bits, values_of
from backends.rtl.tools import Outcome, Tool
from backends.rtl.tools.verilator import Simulator, build
from dsl.arrays.inputs import InputMaker
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule

LATENCY = 64
"""Cycles from a request to its first beat, as a tool takes for granted (UG1399)."""


@dataclass(frozen=True, slots=True)
class Memory:
    """How memory answers: after ``latency`` cycles; each channel stalls in ``stall`` percent of all cycles."""

    latency: int = LATENCY
    stall: int = 0
    seed: int = 1


@dataclass(frozen=True, slots=True)
class AxiSimulation:
    """What a run showed.

    Attributes:
        verdict: ``ok`` where every trial gave the reference's data, ``mismatch``, or how the tool failed.
        cycles: of each trial, from the start that the host writes to ``done``.
        beats: of each master, those that were read and written in the first trial.
        detail: what is wrong.
        seconds: of building and running.
    """

    verdict: str
    cycles: tuple[int, ...] = ()
    beats: tuple[tuple[int, int], ...] = ()
    detail: str = ""
    seconds: float = 0.0


def compiled(design: AxiDesign, tool: Tool, folder: Path, runtime: Path | None = None) -> Simulator:
    """The simulator of a design; it stays in the folder."""
    long = design.kernel.cycles > LONG
    return build(
        *(tool, design.verilog, design.module.name, main_program(design), folder),
        runtime=runtime,
        optimise=long,
    )


def simulate(
    design: AxiDesign,
    program: Program,
    schedule: Schedule,
    tool: Tool,
    *,
    memories: Sequence[Memory] = (Memory(),),
    seed: int = 0,
    trials: int = 1,
    make_inputs: InputMaker | None = None,
    seconds: float = SECONDS,
    runtime: Path | None = None,
) -> list[AxiSimulation]:
    """Build a simulator, run it on inputs with each memory, and judge what it leaves there.

    Args:
        design: What is simulated.
        program: The kernel that it came from.
        schedule: What it may reassociate has a tolerance.
        tool: Verilator.
        memories: How they answer; by default one 64 cycles late, and ready always.
        seed: Trial t uses the inputs made from ``seed + t``.
        trials: Sets of inputs, run one after the other without a reset.
        make_inputs: Makes them from the seed; None for random ones.
        seconds: Limit of the run.
        runtime: A folder that keeps Verilator's compiled runtime from call to call.

    Raises:
        ExecutionError: The reference divides by zero on these inputs, or the like.
    """
    rights = [reference(program, schedule, seed + t, make_inputs) for t in range(trials)]
    with tempfile.TemporaryDirectory(prefix="weft-axi-") as name:
        simulator = compiled(design, tool, Path(name), runtime)
        if simulator.program is None:
            late = simulator.outcome is Outcome.TIMEOUT
            failed = AxiSimulation("timeout" if late else "failed", detail=simulator.message)
            return [failed for _ in memories]
        return [run(design, program, simulator, rights, m, seconds=seconds) for m in memories]


def run(
    design: AxiDesign,
    program: Program,
    simulator: Simulator,
    rights: Sequence[Reference],
    memory: Memory,
    *,
    seconds: float = SECONDS,
) -> AxiSimulation:
    """Run a simulator that `compiled` made; as `simulate`."""
    assert simulator.program is not None
    folder = simulator.program.parent
    sets = [raw_set(program, right) for right in rights]
    (folder / "in").write_bytes(b"".join(pack(design, *s) for s in sets))
    slowest = 100 / (100 - memory.stall)
    accesses = sum(b.depth for b in design.kernel.banks) + design.kernel.cycles
    limit = int((accesses * (memory.latency + 40) + 10_000) * slowest)
    status = design.status
    words = (len(sets), limit, memory.seed, memory.stall, memory.latency, status)
    ran = simulator.run(("in", "out", *map(str, words)), Limits(seconds=seconds))
    spent = simulator.seconds + ran.seconds
    if not ran.ok:
        said = " ".join(ran.tail(3))
        verdict = "timeout" if ran.timed_out else "failed"
        return AxiSimulation(verdict, detail=f"{ran.outcome}: {said}", seconds=spent)
    rows = [[int(word) for word in line.split()] for line in ran.log.splitlines()]
    cycles = tuple(row[0] for row in rows)
    beats = tuple(zip(rows[0][1::2], rows[0][2::2], strict=True))
    detail = _wrong(design, program, rights, sets, (folder / "out").read_bytes())
    return AxiSimulation("mismatch" if detail else "ok", cycles, beats, detail, spent)


Set = tuple[Mapping[str, Sequence[int]], Mapping[str, int]]


def raw_set(program: Program, right: Reference) -> Set:
    """The raw bits of the arrays and the scalars of a kernel's inputs."""
    bits = {a.name: raw_bits(a, right.inputs[a.name]) for a in program.arguments}
    arrays = {a.name: bits[a.name] for a in program.arguments if a.shape}
    return arrays, {a.name: bits[a.name][0] for a in program.arguments if not a.shape}


def _wrong(
    design: AxiDesign,
    program: Program,
    rights: Sequence[Reference],
    sets: Sequence[Set],
    data: bytes,
) -> str:
    """What is not as the reference has it, of the first trial where anything is."""
    for trial, (right, (arrays, _)) in enumerate(zip(rights, sets, strict=True)):
        raws, wrong, data = unpack(design, data, arrays)
        if wrong:
            return f"{wrong[0]} (trial {trial})"
        for array in (a for a in program.arguments if a.shape):
            allowed, scale = right.tolerances.get(array.name, 0), right.scales.get(array.name)
            got = values_of(array, raws[array.name])
            found = difference(array, right.results[array.name], got, allowed, scale)
            if found.wrong:
                return f"{array.name}: {found.wrong} wrong, first {found.first} (trial {trial})"
    return ""
