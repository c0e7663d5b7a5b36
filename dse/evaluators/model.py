"""The white-box model as an evaluator: milliseconds a design, no tool needed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from backends.devices import Device
from dse.estimates.estimation import Estimation, Setting, estimated, ranked, setting
from dse.estimates.support import marks_of
from dse.estimates.words import why
from dse.evaluators.base import LoopReport, Request, Result, Status
from dse.evaluators.version import MODEL, code_version
from dsl.errors.errors import IRError, LanguageError, ScheduleError, ToolError
from dsl.schedules.pragma_steps import Leave
from polyhedral.applied import applied
from polyhedral.scop.scheduled import ScheduledScop
from qor_gnn.result.qor_estimate import LoopEstimate
from qor_gnn.tools.personality import Personality


def personality_for(device: Device, clock: float) -> Personality:
    """The tool personality that answers for a device at a clock period in ns.

    Raises:
        ToolError: W452 nothing runs at this clock.
    """
    return setting(None, device, clock).tool


@dataclass(frozen=True, slots=True)
class ModelEvaluator:
    """`qor_gnn.estimate` of a point: by its loops, or (``emitted``) by its level 3 module.

    ``tool`` is the name of a version, None for the one of the request, or of its device. A clock that nothing
    runs at is an error of the tool (W452); what of the operators is assumed, the result's ``tool`` says.
    """

    tool: str | None = None
    emitted: bool = False

    @property
    def name(self) -> str:
        """``model``."""
        return "model"

    @property
    def cost(self) -> float:
        """A fiftieth of a second."""
        return 0.02

    @property
    def version(self) -> str:
        """Of the code and its coefficients, and the personality if one is fixed."""
        return f"{code_version(MODEL)}:{self.tool or ''}"

    def setting(self, request: Request) -> Setting:
        """The personality that answers a request, and notes on where it was not measured.

        Raises:
            ToolError: W450 no such personality, W452 nothing runs at the clock.
        """
        return setting(
            self.tool or request.tool,
            request.device,
            request.clock,
            calibration=request.calibration,
        )

    def evaluate(self, request: Request) -> Result:
        """See `dse.evaluators.base.Evaluator`."""
        start = time.perf_counter()
        result = self._evaluate(request)
        return replace(result, seconds=time.perf_counter() - start)

    def _evaluate(self, request: Request) -> Result:
        try:
            state = applied(request.program, request.schedule)
        except (ScheduleError, LanguageError) as error:
            # Only the code: the text of a refusal costs more than the refusal.
            return Result(Status.ILLEGAL, detail=error.code)
        try:
            found = estimation(state, request, self.setting(request), emitted=self.emitted)
        except (ToolError, IRError) as error:
            return Result(Status.TOOL_ERROR, detail=f"{error.code}: {error.message}")
        return result_of(found)


def estimation(
    state: ScheduledScop, request: Request, where: Setting, *, emitted: bool
) -> Estimation:
    """The white box's answer to a request.

    Args:
        state: the program, scheduled.
        request: what is asked.
        where: the tool and the device.
        emitted: read the design from its module, as what is shown is; else from its loops, as
            points of a search are ranked. The answer is the same.
    """
    if emitted:
        return estimated(request.program, request.schedule, where)
    return ranked(state, request.schedule, where)


def result_of(found: Estimation) -> Result:
    """An estimate as a result; its notes become a part of what the figures are said to be of."""
    answer = found.answer
    counts = {
        "dsp": answer.dsp,
        "lut": answer.lut,
        "ff": answer.ff,
        "bram18": answer.bram18,
        "uram": answer.uram or None,
    }
    return Result(
        Status.OK,
        answer.latency.average,
        {name: n for name, n in counts.items() if n is not None},
        answer.provenance,
        "; ".join(
            (f"{answer.tool}, on {answer.device} at {answer.clock_ns:g} ns", *found.setting.notes)
        ),
        loops=tuple(map(_report, answer.loops)),
        # Of HLS tools it is csynth's estimate, where that misses the clock; not what routing will reach.
        period=answer.period_ns if answer.clock is None or not answer.clock.met else None,
        marks=marks_of(found),
        longest=answer.latency.maximum
        if any(isinstance(s, Leave) for s in found.schedule)
        else None,
    )


def _report(loop: LoopEstimate) -> LoopReport:
    return LoopReport(
        loop.loops,
        loop.kind,
        loop.trips.average,
        loop.ii,
        loop.depth,
        loop.latency.average,
        why(loop),
        loop.statements,
        loop.level,
        loop.copies,
        loop.unroll,
        loop.dsp,
    )
