"""A design in Verilator against the reference interpreter: its data, and its very cycles."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from backends.compare import difference
from backends.finite import not_finite
from backends.process import Limits
from backends.reference import Reference, reference
from backends.rtl.design import RtlDesign
from backends.rtl.testbench import pack, testbench, unpack
from backends.rtl.tools import Cache, Outcome, Tool
from backends.rtl.tools.verilator import build
from dsl.arrays.inputs import InputMaker, storage_dtype
from dsl.expressions.numeric import wrap
from dsl.expressions.types import FixedType, FloatType, IntType
from dsl.programs.program import Array, Program
from dsl.schedules.schedule import Schedule
from mlir_passes.dialect.access import GARBAGE, SCRATCH

Verdict = Literal["ok", "mismatch", "cycles", "vacuous", "timeout", "failed"]
SECONDS = 300.0
LONG = 200_000
"""Predicted cycles from which on the simulator is compiled with optimisation."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a simulation showed.

    ``verdict`` is ``ok`` where every trial gave the reference's data in exactly the predicted
    cycles; ``mismatch`` (wrong data), ``cycles`` (right data, other cycles), ``vacuous`` (the
    reference's results are all infinite or NaN) or how the tool failed. ``cycles`` is that of the
    first trial, None without one.
    """

    verdict: Verdict
    cycles: int | None
    max_ulp: float = 0.0
    detail: str = ""
    seconds: float = 0.0


def simulate(
    design: RtlDesign,
    program: Program,
    schedule: Schedule,
    tool: Tool,
    *,
    seed: int = 0,
    trials: int = 1,
    make_inputs: InputMaker | None = None,
    seconds: float = SECONDS,
    runtime: Path | None = None,
    cache: Cache | None = None,
) -> Simulation:
    """Run a design on inputs and judge it.

    Args:
        design: What is simulated.
        program: The kernel that it came from.
        schedule: What it may reassociate has a tolerance (`backends.tolerance`).
        tool: Verilator (`find_verilator`).
        seed: Trial t uses the inputs made from ``seed + t``.
        trials: Sets of inputs, run one after the other without a reset.
        make_inputs: Makes them from the seed; None for random ones.
        seconds: Limit of the run.
        runtime: A folder that keeps Verilator's compiled runtime from call to call.
        cache: Where verdicts are kept: the same design on the same inputs is not run again.

    Raises:
        ExecutionError: The reference divides by zero on these inputs, or the like.
        InputError: ``make_inputs`` makes something else than inputs.
    """
    rights = [reference(program, schedule, seed + t, make_inputs) for t in range(trials)]
    outputs = [a for a in program.arguments if a.shape]
    bad = not_finite(outputs, rights)
    if any(b.everywhere for b in bad):
        return Simulation("vacuous", None, detail=", ".join(map(str, bad)))
    sets = [_raw(program, right.inputs, design) for right in rights]
    main, data = testbench(design), b"".join(pack(design, *s) for s in sets)
    key = (
        "simulate",
        tool.version,
        design.verilog,
        main,
        str(design.cycles),
        _digest(data, rights),
    )
    if cache is not None and (known := cache.get(key)) is not None:
        return Simulation(**known)  # type: ignore[arg-type]
    found = _run(design, tool, (main, data), trials, seconds, runtime)
    if isinstance(found, Simulation):
        return found
    result = _judged(design, outputs, rights, sets, found)
    if cache is not None:
        cache.put(key, asdict(result))
    return result


@dataclass(frozen=True, slots=True)
class _Ran:
    """What the simulator wrote: the banks of every trial, and their cycles."""

    data: bytes
    cycles: tuple[int, ...]
    seconds: float


def _run(
    design: RtlDesign,
    tool: Tool,
    texts: tuple[str, bytes],
    trials: int,
    seconds: float,
    runtime: Path | None,
) -> _Ran | Simulation:
    """Build and run the simulator; how it failed where it did."""
    main, data = texts
    with tempfile.TemporaryDirectory(prefix="weft-simulate-") as name:
        folder = Path(name)
        built = build(
            *(tool, design.verilog, design.top.name, main, folder),
            runtime=runtime,
            optimise=design.cycles * trials > LONG,
        )
        if built.program is None:
            late = built.outcome is Outcome.TIMEOUT
            return Simulation("timeout" if late else "failed", None, 0.0, built.message)
        (folder / "in").write_bytes(data)
        limit = 2 * design.cycles + 1000
        run = built.run(("in", "out", str(trials), str(limit), "0"), Limits(seconds=seconds))
        spent = built.seconds + run.seconds
        if not run.ok:
            said = " ".join(run.tail(3))
            verdict: Verdict = "timeout" if run.timed_out else "failed"
            return Simulation(verdict, None, 0.0, f"{run.outcome}: {said}", spent)
        written = (folder / "out").read_bytes()
    return _Ran(written, tuple(int(line) for line in run.log.split()), spent)


def _digest(data: bytes, rights: Sequence[Reference]) -> str:
    """Of the inputs, and of what is right."""
    digest = hashlib.sha256(data)
    for right in rights:
        for name, values in sorted(right.results.items()):
            tolerance = right.tolerances.get(name, 0)
            digest.update(f"{name} {tolerance} {np.asarray(values).tolist()}".encode())
    return digest.hexdigest()


Set = tuple[Mapping[str, Sequence[int]], Mapping[str, int]]


def _judged(
    design: RtlDesign,
    outputs: Sequence[Array],
    rights: Sequence[Reference],
    sets: Sequence[Set],
    ran: _Ran,
) -> Simulation:
    largest, data, cycles, seconds = 0.0, ran.data, ran.cycles, ran.seconds
    for trial, (right, (arrays, _)) in enumerate(zip(rights, sets, strict=True)):
        raws, data = unpack(design, data, arrays)
        for array in outputs:
            got = values_of(array, raws[array.name])
            allowed, scale = right.tolerances.get(array.name, 0), right.scales.get(array.name)
            found = difference(array, right.results[array.name], got, allowed, scale)
            largest = max(largest, found.max_ulp)
            if found.wrong:
                detail = f"{found.wrong} wrong, first {found.first} (trial {trial})"
                return Simulation("mismatch", cycles[0], largest, detail, seconds)
    for trial, count in enumerate(cycles):
        if count != design.cycles:
            detail = f"{count} cycles, {design.cycles} predicted (trial {trial})"
            return Simulation("cycles", cycles[0], largest, detail, seconds)
    return Simulation("ok", cycles[0], largest, "", seconds)


def _raw(program: Program, inputs: Mapping[str, Any], design: RtlDesign) -> Set:
    """The bits of every argument; scratch holds no zeros, so that who reads what was not written is found."""
    bits = {a.name: raw_bits(a, inputs[a.name]) for a in program.arguments}
    arrays = {a.name: bits[a.name] for a in program.arguments if a.shape}
    for a in design.graph.arrays:
        if a.argument and a.access == SCRATCH:
            filled = int.from_bytes(bytes([GARBAGE]) * (-(-a.width // 8)), "little")
            arrays[a.name] = [filled % (1 << a.width)] * prod(a.shape)
    return arrays, {a.name: bits[a.name][0] for a in program.arguments if not a.shape}


def raw_bits(array: Array, values: object) -> list[int]:
    """The bits of every element of a raw array, row-major.

    Raises:
        ValueError: Floats of another width than 32 bits, which have no hardware.
    """
    found = np.asarray(values)
    if isinstance(array.dtype, FloatType):
        if array.dtype.name != "f32":
            raise ValueError(f"{array.dtype} has no hardware")
        return [int(v) for v in found.astype(np.float32).ravel().view(np.uint32)]
    assert isinstance(array.dtype, IntType | FixedType)
    mask = (1 << array.dtype.width) - 1
    return [int(v) & mask for v in found.ravel().tolist()]


def values_of(array: Array, bits: Sequence[int]) -> npt.NDArray[Any]:
    """The raw array of these bits."""
    if isinstance(array.dtype, FloatType):
        return np.array(bits, dtype=np.uint32).view(np.float32).reshape(array.shape)
    assert isinstance(array.dtype, IntType | FixedType)
    result = np.empty(len(bits), dtype=storage_dtype(array.dtype))
    result[:] = [wrap(b, array.dtype.width, array.dtype.signed) for b in bits]
    return result.reshape(array.shape)
