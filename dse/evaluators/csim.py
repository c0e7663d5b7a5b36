"""C simulation as an evaluator: the model's figures, and whether the exported project is right.

The project that `weft export` would write is made at a reduced size, compiled with g++ and run
against the interpreter's results. That says nothing of hardware, so the figures stay the model's;
it is the check that a design has to pass, at the cost of a compiler's run.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from dse.evaluators.base import Check, Request, Result, Status
from dse.evaluators.model import ModelEvaluator
from dse.evaluators.version import code_version
from dsl.errors import ScheduleError, ToolError, WeftError
from dsl.interp import ExecutionError
from dsl.kernel import Kernel
from dsl.loader import load
from dsl.pretty import pretty
from dsl.program import Program
from dsl.schedule import Schedule
from polyhedral.codegen import loop_tree
from polyhedral.counts import instance_counts
from polyhedral.schedule import apply

NAME = "csim"
_LARGEST = 2e6  # statement instances that the interpreter runs within seconds
_ABSENT = ("W401", "W402", "W410")  # no compiler or no headers: says nothing of the design


@dataclass(frozen=True, slots=True)
class CsimEvaluator:
    """A check by g++ of the project at the smallest size of the kernel that the schedule fits.

    ``source`` and ``size`` name the kernel as on the command line (it is loaded where the
    evaluation runs), ``program`` is its digest; ``seconds`` limits the compiler, and the testbench.
    """

    source: str
    size: str | None
    program: str
    seconds: float = 600

    @property
    def name(self) -> str:
        """``csim``."""
        return NAME

    @property
    def cost(self) -> float:
        """The compiler's run takes a few seconds."""
        return 3.0

    @property
    def version(self) -> str:
        """Of the code."""
        return code_version()

    def evaluate(self, request: Request) -> Result:
        """See `dse.evaluators.base.Evaluator`."""
        start = time.perf_counter()
        result = ModelEvaluator().evaluate(request)
        if result.status is Status.OK:
            result = self._checked(request, result)
        return replace(result, seconds=time.perf_counter() - start)

    def _checked(self, request: Request, figures: Result) -> Result:
        try:
            sizes = _ascending(self.source, self.size, self.program)
            small = _fitting(sizes, request)
            if small is None:
                detail = "the schedule fits no size that is small enough to simulate"
                return replace(figures, checks=(Check(NAME, "skipped", detail),))
            check = self._simulated(small, request)
        except (ToolError, ExecutionError, _ChangedError) as error:
            return Result(Status.TOOL_ERROR, detail=f"{NAME}: {error}")
        match check.status:
            case "failed":
                detail = f"{NAME}: {check.detail}"
                return Result(Status.TOOL_ERROR, detail=detail, checks=(check,))
            case "late":
                return Result(Status.TIMEOUT, detail=f"{NAME}: {check.detail}")
            case _:
                return replace(figures, checks=(check,))

    def _simulated(self, small: Kernel, request: Request) -> Check:
        from backends.cxx import need_cxx
        from backends.vitis.csim import csim
        from backends.vitis.project import export
        from mlir_passes.pipeline import compile_design

        tool = f"g++ {need_cxx().version}, {_size(small.program)}"
        start = time.perf_counter()
        design = compile_design(small.program, request.schedule)
        with tempfile.TemporaryDirectory(prefix="weft-evaluate-") as folder:
            place = Path(folder) / "project"
            made = export(
                design, place, request.device, request.clock, make_inputs=small.make_inputs
            )
            try:
                ran = csim(place, made.names, self.seconds)
            except ToolError as error:
                if error.code in _ABSENT:
                    raise
                return Check(NAME, "failed", error.message, tool)
        seconds = time.perf_counter() - start
        if ran.testbench.timed_out:
            return Check(NAME, "late", ran.testbench.outcome, tool, seconds)
        if not ran.passed:
            said = " ".join(ran.testbench.tail(1)) or ran.testbench.outcome
            return Check(NAME, "failed", said, tool, seconds)
        return Check(NAME, "ok", "", tool, seconds)


class _ChangedError(Exception):
    """The file holds another kernel than the one that is explored."""


@lru_cache(maxsize=4)
def _ascending(source: str, size: str | None, digest: str) -> tuple[Kernel, ...]:
    """The kernel at its own size and at those it has names for, those of least work first."""
    from dse.kernels import quiet_stdout, sized
    from dse.run.codec import program_digest

    try:
        with quiet_stdout():
            kernel = load(source)
        own = sized(kernel, size)
    except WeftError as error:
        raise _ChangedError(f"{source} cannot be loaded: {error.message}") from error
    if program_digest(own.program) != digest:
        raise _ChangedError(f"{source} is not the kernel that the run was begun with")
    found: dict[str, tuple[float, Kernel]] = {}
    for one in (own, *(kernel.at(name) for name in kernel.sizes)):
        work = _instances(one.program)
        if work <= _LARGEST:
            found.setdefault(pretty(one.program), (work, one))
    return tuple(one for _, one in sorted(found.values(), key=lambda pair: pair[0]))


def _fitting(sizes: Sequence[Kernel], request: Request) -> Kernel | None:
    """The kernel at the smallest size at which the schedule is legal."""
    for small in sizes:
        try:
            apply(small.program, request.schedule)
        except ScheduleError:
            continue  # a factor may be more than the loop has iterations
        return small
    return None


def _instances(program: Program) -> float:
    counts = instance_counts(loop_tree(apply(program, Schedule())))
    return float("inf") if None in counts.values() else sum(n or 0 for n in counts.values())


def _size(program: Program) -> str:
    shapes = {a.name: "x".join(map(str, a.shape)) for a in program.arguments if a.shape}
    return "at " + ", ".join(f"{name}[{shape}]" for name, shape in shapes.items())
