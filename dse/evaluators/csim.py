"""C simulation as an evaluator: the model's figures, and whether the exported project is right.

The project that `weft export` would write is made at a reduced size, compiled with g++ and run
against the interpreter's results. That says nothing of hardware, so the figures stay the model's;
it is the check that a design has to pass, at the cost of a compiler's run.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from backends.devices import Device
from dse.evaluators.base import Check, Request, Result, Status
from dse.evaluators.model import ModelEvaluator
from dse.evaluators.version import TOOLS, code_version
from dse.kernels.data import unpacked
from dse.kernels.reduced import ascending, fitting, size_text
from dsl.errors.errors import InputError, ToolError
from dsl.interp import ExecutionError
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule

NAME = "csim"
ABSENT = ("W401", "W402", "W410")  # no compiler or no headers: says nothing of the design


@dataclass(frozen=True, slots=True)
class CsimEvaluator:
    """A check by g++ of the project at the smallest size of the kernel that the schedule fits.

    ``kernel`` is it as data, so that no file of it is run where the evaluation is; ``seconds`` limits
    the compiler, and the testbench.
    """

    kernel: bytes = field(repr=False)
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
        return code_version(TOOLS)

    def evaluate(self, request: Request) -> Result:
        """See `dse.evaluators.base.Evaluator`."""
        start = time.perf_counter()
        result = ModelEvaluator().evaluate(request)
        if result.status is Status.OK:
            result = self._checked(request, result)
        return replace(result, seconds=time.perf_counter() - start)

    def _checked(self, request: Request, figures: Result) -> Result:
        try:
            small = fitting(_ascending(self.kernel), request.schedule)
            if small is None:
                detail = "the schedule fits no size that is small enough to simulate"
                return replace(figures, checks=(Check(NAME, "skipped", detail),))
            check = simulated(small, request.schedule, request.device, request.clock, self.seconds)
        except (ToolError, ExecutionError, InputError) as error:
            return Result(Status.TOOL_ERROR, detail=f"{NAME}: {error}")
        match check.status:
            case "failed":
                detail = f"{NAME}: {check.detail}"
                return Result(Status.TOOL_ERROR, detail=detail, checks=(check,))
            case "late":
                return Result(Status.TIMEOUT, detail=f"{NAME}: {check.detail}")
            case _:
                return replace(figures, checks=(check,))


def simulated(
    small: Kernel, schedule: Schedule, device: Device, clock: float, seconds: float
) -> Check:
    """Export a design, compile its project with g++, and run the testbench.

    Args:
        small: the kernel at a size that the interpreter runs in seconds.
        schedule: of the design.
        device: what the project is for.
        clock: its period in ns.
        seconds: limit of the compiler, and of the testbench.

    Raises:
        ToolError: W401, W402, W410 there is no compiler, or no headers.
        ExecutionError: W190 to W194 the kernel divides by zero on its inputs, or the like.
    """
    from backends.cxx import need_cxx
    from backends.vitis.csim import csim
    from backends.vitis.project import export
    from mlir_passes.pipeline import compile_design

    tool = f"g++ {need_cxx().version}, {size_text(small.program)}"
    start = time.perf_counter()
    design = compile_design(small.program, schedule)
    with tempfile.TemporaryDirectory(prefix="weft-evaluate-") as folder:
        place = Path(folder) / "project"
        made = export(design, place, device, clock, make_inputs=small.make_inputs)
        begun = time.perf_counter()
        try:
            ran = csim(place, made.names, seconds)
        except ToolError as error:
            if error.code in ABSENT:
                raise
            late = time.perf_counter() - begun >= seconds
            return Check(NAME, "late" if late else "failed", error.message, tool)
    took = time.perf_counter() - start
    if ran.testbench.timed_out:
        return Check(NAME, "late", ran.testbench.outcome, tool, took)
    if not ran.passed:
        said = " ".join(ran.testbench.tail(1)) or ran.testbench.outcome
        return Check(NAME, "failed", said, tool, took)
    return Check(NAME, "ok", "", tool, took)


@lru_cache(maxsize=4)
def _ascending(kernel: bytes) -> tuple[Kernel, ...]:
    """See `dse.kernels.reduced.ascending`; the kernel is read once."""
    return ascending(unpacked(kernel, "the evaluator"))
