"""The open flow as an evaluator: RTL, simulated, placed and routed on an ECP5."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dse.evaluators.base import Check, LoopReport, Request, Result, Status
from dse.evaluators.version import TOOLS, code_version
from dsl.errors.errors import LanguageError, ScheduleError, WeftError
from dsl.interp import ExecutionError

if TYPE_CHECKING:
    from backends.rtl.synth import SynthReport

NAME = "rtl"


@dataclass(frozen=True, slots=True)
class RtlEvaluator:
    """Post-route figures of the request's device, which must be an ECP5.

    ``seconds`` limits the simulation, synthesis and routing, each; ``seed`` is the placer's. What
    was built before with the same tools is read from ``cache`` (None: nothing is kept). Without
    ``simulation`` nothing says that a design computes what it should.
    """

    seconds: float = 600
    seed: int = 1
    cache: Path | None = None
    simulation: bool = True

    @property
    def name(self) -> str:
        """``rtl``."""
        return NAME

    @property
    def cost(self) -> float:
        """Half a minute for a small design, minutes for a large one."""
        return 60.0

    @property
    def version(self) -> str:
        """Of the code, the seed, and whether designs are simulated."""
        simulated = "" if self.simulation else ":not simulated"
        return f"{code_version(TOOLS)}:{self.seed}{simulated}"

    def evaluate(self, request: Request) -> Result:
        """See `dse.evaluators.base.Evaluator`."""
        start = time.perf_counter()
        result = self._evaluate(request)
        return replace(result, seconds=time.perf_counter() - start)

    def _evaluate(self, request: Request) -> Result:
        from backends.rtl.synth import SynthOptions, synth
        from mlir_passes.pipeline import compile_design

        compiled = compile_design(request.program, request.schedule)
        try:
            _ = compiled.scheduled
        except (ScheduleError, LanguageError) as error:
            return Result(Status.ILLEGAL, detail=error.code)
        options = SynthOptions(
            request.device.name,
            request.clock,
            seeds=(self.seed,),
            simulation=self.simulation,
            seconds=self.seconds,
            cache=self.cache,
        )
        try:
            report = synth(request.program, request.schedule, compiled.module, options)
        except (WeftError, ExecutionError) as error:
            return Result(Status.TOOL_ERROR, detail=f"{NAME}: {error}")
        return _result(report, request)


def _result(report: SynthReport, request: Request) -> Result:
    tools = ", ".join(f"{name} {version}" for name, version in report.tools)
    simulation = report.simulation
    verdict = "skipped" if simulation is None else _CHECKS[simulation.verdict]
    detail = "" if simulation is None else simulation.detail
    spent = 0.0 if simulation is None else simulation.seconds
    checks = (Check("rtl-sim", verdict, detail, tools, spent),)
    if report.resources is None or report.outcome != "ok":
        status = Status.TIMEOUT if report.outcome == "time-out" else Status.TOOL_ERROR
        said = f"{NAME}: {report.outcome}: {report.message.splitlines()[-1:]}"
        return Result(status, detail=said, checks=checks)
    used, fmax = report.resources, report.fmax
    clock = "" if fmax is None else f", {fmax:.1f} MHz reached"
    return Result(
        Status.OK,
        report.design.cycles,
        {"dsp": used.dsp, "lut": used.lut, "ff": used.ff, "bram18": used.bram},
        report.provenance,
        f"{tools}, on {request.device.name} at {request.clock:g} ns{clock}",
        loops=_loops(report),
        checks=checks,
        period=None if fmax is None else 1000 / fmax,
    )


def _loops(report: SynthReport) -> tuple[LoopReport, ...]:
    """The pipelines and straight parts, as the scheduler made them."""
    return tuple(
        LoopReport(r.loops, r.kind, 0.0, r.ii, r.depth, 0.0, r.why, level=max(0, len(r.loops) - 1))
        for r in report.design.regions
        if r.ii
    )


_CHECKS = {
    "ok": "ok",
    "mismatch": "failed",
    "cycles": "failed",
    "vacuous": "skipped",
    "timeout": "late",
    "failed": "late",
}
