"""Do interpreter, JIT and compiled HLS C++ compute the same? On some inputs, level by level.

The interpreter (`dsl.interp`) is the reference. Integers, fixed point and floats must agree to the
bit; what a schedule was allowed to reassociate, and exp, log and tanh, within a stated tolerance
(see `backends.tolerance`). Both the JIT's code and the compiled C++ run in processes of their own,
so that a crash or an endless loop is a result like any other.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from backends.compare import Difference, difference
from backends.cxx import SANITIZE, SANITIZE_AP, need_cxx
from backends.finite import help_line, not_finite
from backends.harness import Outcome, Unit, build, run_jobs
from backends.isolate import in_child
from backends.process import Limits
from backends.rawdata import pack, unpack
from backends.reference import RawArray, Reference, reference
from dsl.arrays.inputs import InputMaker, storage_dtype
from dsl.errors.errors import InputError, IRError
from dsl.interp import ExecutionError
from dsl.programs.program import Array, Program
from dsl.schedules.schedule import Schedule

if TYPE_CHECKING:
    from mlir_passes.pipeline import Design

Status = Literal["ok", "mismatch", "crash", "error", "vacuous", "skipped"]


@dataclass(frozen=True, slots=True)
class Level:
    """One level against the interpreter, over all trials.

    ``max_ulp`` is the largest distance seen, in units in the last place; ``detail`` says what was
    wrong first.
    """

    status: Status
    max_ulp: float = 0.0
    detail: str = ""

    @property
    def ok(self) -> bool:
        """It agrees, or was not asked for."""
        return self.status in ("ok", "skipped")


SKIPPED = Level("skipped")


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """One design: what each level did.

    ``interp`` is an error where the program divides by zero on the inputs or the like; then the
    other levels are skipped. It is vacuous where all that the program computes of some array is
    infinite or NaN; some such elements are only a note in its ``detail``.

    ``tolerance`` is 0 where all arrays must agree to the bit, else the allowed distance in units in
    the last place of those in ``inexact``.
    """

    kernel: str
    seed: int
    trials: int
    interp: Level
    jit: Level
    cxx: Level
    tolerance: int = 0
    inexact: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """The reference could be run, and every level that was asked for agrees with it."""
        return self.interp.ok and self.jit.ok and self.cxx.ok

    @property
    def max_ulp(self) -> float:
        """The largest distance at any level."""
        return max(self.jit.max_ulp, self.cxx.max_ulp)


@dataclass(slots=True)
class _Case:
    """A design at work, with the reference of each trial."""

    design: Design
    trials: list[Reference] = field(default_factory=list)
    seconds: float = 0.0
    interp: Level = SKIPPED
    jit: Level = SKIPPED
    cxx: Level = SKIPPED
    storage: dict[str, np.dtype[Any]] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        return self.design.program

    @property
    def outputs(self) -> tuple[Array, ...]:
        return tuple(a for a in self.program.arguments if a.shape)


def verify(
    program: Program,
    schedule: Schedule,
    seed: int = 0,
    trials: int = 1,
    *,
    jit: bool = True,
    cxx: bool = True,
    sanitize: bool = False,
    seconds: int = 60,
    make_inputs: InputMaker | None = None,
) -> VerifyResult:
    """Check one design (see `verify_many`).

    Raises:
        ScheduleError: The schedule is not legal.
        ToolError: W401, W410: g++ or the ap_types headers are missing.
    """
    from mlir_passes.pipeline import compile_design

    design = compile_design(program, schedule)
    _ = design.module  # an illegal schedule is found before anything is run
    options = {"jit": jit, "cxx": cxx, "sanitize": sanitize}
    makers = [make_inputs]
    return verify_many([design], seed, trials, seconds=seconds, make_inputs=makers, **options)[0]


def verify_many(
    designs: Sequence[Design],
    seed: int = 0,
    trials: int = 1,
    *,
    jit: bool = True,
    cxx: bool = True,
    sanitize: bool = False,
    chunk: int = 32,
    seconds: int = 60,
    make_inputs: Sequence[InputMaker | None] = (),
) -> list[VerifyResult]:
    """Check designs, compiling the C++ of many of them at once.

    Args:
        designs: What `compile_design` returns.
        seed: Trial t uses the inputs made from ``seed + t``.
        trials: Sets of inputs for each.
        jit: Check the JIT.
        cxx: Check the emitted C++, compiled by g++.
        sanitize: Compile with address and undefined-behaviour sanitizers (slower).
        chunk: Kernels in one translation unit.
        seconds: Limit of each run.
        make_inputs: For each design, what makes its inputs (`Kernel.make_inputs`) or None for
            `random_inputs`; nothing for random ones everywhere.

    Raises:
        ToolError: W401, W410: g++ or the ap_types headers are missing.
    """
    makers = make_inputs or (None,) * len(designs)
    cases = [_prepare(d, seed, trials, make) for d, make in zip(designs, makers, strict=True)]
    running = [case for case in cases if case.trials]
    if jit:
        for case in running:
            _check_jit(case, seconds)
    if cxx:
        _check_cxx(running, chunk, seconds, sanitize)
    return [_result(case, seed, trials) for case in cases]


def _result(case: _Case, seed: int, trials: int) -> VerifyResult:
    allowed = case.trials[0].tolerances if case.trials else {}
    return VerifyResult(
        case.program.name,
        seed,
        trials,
        case.interp,
        case.jit,
        case.cxx,
        max(allowed.values(), default=0),
        tuple(allowed),
        case.seconds,
    )


def _prepare(design: Design, seed: int, trials: int, make: InputMaker | None) -> _Case:
    start = time.perf_counter()
    program = design.program
    case = _Case(design)
    try:
        found = [reference(program, design.schedule, seed + t, make) for t in range(trials)]
    except (ExecutionError, InputError) as error:
        case.interp = Level("error", detail=error.render())
    else:
        case.trials = found
        case.interp = _sound(case)
    case.storage = {a.name: np.dtype(storage_dtype(a.dtype)) for a in program.arguments}
    case.seconds = time.perf_counter() - start
    return case


def _sound(case: _Case) -> Level:
    """The interpreter's level: are its results worth comparing with?"""
    bad = not_finite(case.outputs, case.trials)
    if not bad:
        return Level("ok")
    vacuous = any(b.everywhere for b in bad)
    detail = f"{', '.join(map(str, bad))}; {help_line(case.program.name)}"
    return Level("vacuous" if vacuous else "ok", detail=detail)


def _judge(case: _Case, outcomes: Sequence[Outcome]) -> Level:
    """The level's outputs of every trial against the interpreter's."""
    largest = 0.0
    for trial, outcome in enumerate(outcomes):
        if outcome.data is None:
            return Level("crash", largest, outcome.detail)
        got = unpack(case.outputs, outcome.data, case.storage)
        right = case.trials[trial]
        found = [_compared(right, array, got[array.name]) for array in case.outputs]
        largest = max([largest, *(d.max_ulp for d in found)])
        for d in found:
            if d.wrong:
                note = f"{d.wrong} wrong, first {d.first} (trial {trial})"
                return Level("mismatch", largest, note)
    return Level("ok", largest)


def _compared(right: Reference, array: Array, got: RawArray) -> Difference:
    name = array.name
    allowed, scale = right.tolerances.get(name, 0), right.scales.get(name)
    return difference(array, right.results[name], got, allowed, scale)


def _check_jit(case: _Case, seconds: int) -> None:
    from mlir_passes.cpu.jit import jit

    start = time.perf_counter()
    try:
        kernel = jit(case.design.module)
    except IRError as error:
        case.jit = Level("error", detail=error.message)
        return

    def work() -> bytes:
        return b"".join(pack(case.outputs, kernel(t.inputs)) for t in case.trials)

    ended = in_child(work, seconds)
    if ended.status != "ok":
        status: Status = "error" if ended.status == "error" else "crash"
        case.jit = Level(status, detail=ended.detail)
        return
    size = len(ended.data) // len(case.trials)
    parts = (ended.data[n * size : (n + 1) * size] for n in range(len(case.trials)))
    outcomes = [Outcome(part) for part in parts]
    case.jit = _judge(case, outcomes)
    case.seconds += time.perf_counter() - start


def _check_cxx(cases: Sequence[_Case], chunk: int, seconds: int, sanitize: bool) -> None:
    emitted, units = [], []
    for case in cases:
        try:
            source = case.design.hls
        except IRError as error:
            case.cxx = Level("error", detail=error.message)
            continue
        emitted.append(case)
        units.append(Unit(case.program, *source.over_elements(), source.uses_ap))
    for with_ap in (False, True):
        group = [n for n, unit in enumerate(units) if unit.ap_types is with_ap]
        for start in range(0, len(group), chunk):
            part = group[start : start + chunk]
            with tempfile.TemporaryDirectory(prefix="weft-verify-") as folder:
                _check_chunk(
                    [emitted[n] for n in part], [units[n] for n in part], Path(folder), seconds,
                    sanitize,
                )  # fmt: skip


def _check_chunk(
    cases: Sequence[_Case], units: Sequence[Unit], folder: Path, seconds: int, sanitize: bool
) -> None:
    """Compile and run; when the compiler refuses, halves of the chunk find whom it refuses."""
    from mlir_passes.emit.hls import include_directory

    start = time.perf_counter()
    with_ap = any(unit.ap_types for unit in units)
    checks = SANITIZE_AP if with_ap else SANITIZE
    flags, memory = (checks, 0) if sanitize else ((), 4 << 30)
    limits = Limits(seconds=600)
    folder = Path(tempfile.mkdtemp(dir=folder))
    support = [include_directory()]
    built = build(
        need_cxx(), units, folder, "kernels", includes=support, flags=flags, limits=limits
    )
    if built.executable is None:
        if len(cases) == 1:
            said = [line for line in built.compilation.log.splitlines() if "error" in line]
            reason = (said or list(built.compilation.tail(1)) or [built.compilation.outcome])[0]
            cases[0].cxx = Level("error", detail=f"g++: {reason}")
            return
        middle = len(cases) // 2
        for part in (slice(0, middle), slice(middle, None)):
            _check_chunk(cases[part], units[part], folder, seconds, sanitize)
        return
    data = [[pack(c.program.arguments, t.inputs) for t in c.trials] for c in cases]
    jobs = folder / "jobs"
    jobs.mkdir()
    for case, outcomes in zip(
        cases, run_jobs(built.executable, data, jobs, seconds, memory=memory), strict=True
    ):
        case.cxx = _judge(case, outcomes)
    each = (time.perf_counter() - start) / len(cases)
    for case in cases:
        case.seconds += each
