"""The interface of evaluators: a design in, its figures and a status out. Never an exception.

Each is a fidelity of its own and says how dear it is, so that promising points can be promoted to
a dearer one (see `dse.evaluators.registry`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

from backends.devices import Device
from dse.accelerator.summary import OnBoard
from dse.estimates.marks import Marks
from dse.estimates.routed import DECIDED, OF_CSYNTH, Place
from dse.evaluators.fidelities import RESOURCES
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from qor_gnn.tools.operators.calibration import Calibration

SURE = 1.645
"""Standard deviations above what is predicted that 95% of the true figures stay below."""
TRUE = ("rtl",)
"""Those whose figures are what a tool made of the design: predictors learn from them."""


class Status(Enum):
    """What came of a point."""

    OK = "ok"  # figures are there, and keep to the limits
    ILLEGAL = "illegal"  # the schedule breaks a dependence or does not fit the program
    INFEASIBLE = "infeasible"  # figures are there, over a limit
    TIMEOUT = "timeout"  # no answer in time
    TOOL_ERROR = "tool-error"  # the evaluator or its tool failed
    DUPLICATE = "duplicate"  # the same schedule was evaluated before
    UNDER_BOUND = (
        "under-bound"  # fewer cycles than are proven to be needed: a fault of the evaluator
    )


@dataclass(frozen=True, slots=True)
class Request:
    """A design point: nothing else may influence the answer.

    Attributes:
        program, schedule: the design.
        device: what it is for.
        clock: the period in ns.
        tool: the personality whose figures are asked for; None for that of the device.
        calibration: measurements of the user's own that are laid over its operators.
    """

    program: Program
    schedule: Schedule
    device: Device
    clock: float
    tool: str | None = None
    calibration: Calibration | None = None


@dataclass(frozen=True, slots=True)
class LoopReport:
    """One loop of a design, for people: ``why`` says what holds the interval up.

    ``level`` counts the regions around it, ``copies`` how often it is there, ``unroll`` the copies
    of its body, ``statements`` names those inside.
    """

    loops: tuple[str, ...]
    kind: str
    trips: float
    ii: float
    depth: float
    latency: float
    why: str
    statements: tuple[str, ...] = ()
    level: int = 0
    copies: int = 1
    unroll: int = 1
    dsp: int = 0


@dataclass(frozen=True, slots=True)
class Check:
    """What a tool says of the correctness of a design.

    Attributes:
        name: of the check.
        status: ``ok``, ``failed`` (the design is wrong), ``late`` or ``skipped``.
        detail: why it is not ``ok``.
        tool: that checked, its version, and what on.
        seconds: that it took.
    """

    name: str
    status: str
    detail: str = ""
    tool: str = ""
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Result:
    """What an evaluator found.

    Attributes:
        status: figures are there only with ``ok`` and ``infeasible``.
        latency: cycles, on average over data-dependent trip counts; None if unknown.
        resources: name in `dse.evaluators.fidelities.RESOURCES` to its count; those not estimated are absent.
        provenance: where the figures come from (`qor_gnn.estimate.Provenance`).
        tool: what they are the figures of: tool, version, device and clock.
        detail: of a failure, one line.
        loops: loop by loop.
        seconds: that the evaluation took.
        checks: that the design went through.
        period: ns that the design was found to need; None where that was not asked, or is the clock's.
        spread: standard deviations of figures that are predicted, by ``latency``, ``period_ns`` and
            the names of the resources.
        upper: of resources that a predictor was asked about besides, the upper end of what it says.
        marks: how far the design leaves what the tool's labels show; None where the evaluator goes by none.
        board: what it is on a board; None where that was not asked, or no array is in memory outside.
        longest: cycles where loops that may end early do not; None where there are none. Proven bounds are of these.
    """

    status: Status
    latency: float | None = None
    resources: Mapping[str, int] = field(default_factory=dict, hash=False)
    provenance: str = ""
    tool: str = ""
    detail: str = ""
    loops: tuple[LoopReport, ...] = ()
    seconds: float = 0.0
    checks: tuple[Check, ...] = ()
    period: float | None = None
    spread: Mapping[str, float] = field(default_factory=dict, hash=False)
    upper: Mapping[str, int] = field(default_factory=dict, hash=False)
    marks: Marks | None = None
    board: OnBoard | None = None
    longest: float | None = None

    @property
    def supported(self) -> bool:
        """Labels of the tool show all that the design has, or its figures need none."""
        return self.marks is None or self.marks.supported

    def period_at(self, clock: float) -> float:
        """What a design that was made for a clock can be run at: that in ns, or the period that it needs."""
        return max(clock, self.period or 0.0)

    @property
    def of_all_trips(self) -> float:
        """Cycles as bounds count them: of all iterations, also where a loop ends early; 0 without figures."""
        return (self.latency if self.longest is None else self.longest) or 0.0

    @property
    def evaluated(self) -> bool:
        """Whether there are figures."""
        return self.latency is not None

    @property
    def refuted(self) -> bool:
        """Whether a check found the design to be wrong."""
        return any(check.status == "failed" for check in self.checks)


class Evaluator(Protocol):
    """Anything that answers a `Request`.

    An evaluator must be importable and picklable (it goes to worker processes), deterministic, and
    must return a `Result` for every request: ``illegal`` for a schedule that is refused,
    ``tool-error`` for a failure of its own. It does not judge limits: ``infeasible`` is given by
    `judged`.
    """

    @property
    def name(self) -> str:
        """Its name on the command line and in keys of caches."""

    @property
    def cost(self) -> float:
        """Roughly the seconds that an evaluation takes: the order of fidelities."""

    @property
    def version(self) -> str:
        """Changes whenever the same request may get another answer."""

    def evaluate(self, request: Request) -> Result:
        """The figures of a design."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a design may use: counts of resources, and cycles. What is absent is not limited.

    Attributes:
        resources: counts by name.
        latency: cycles.
        supported: only designs that labels of the tool show.
        routed: where LUT, FF and BRAM18 are to keep to their limits after placement and routing, by the upper ends
            of what is expected then; None: as csynth counts them.
    """

    resources: Mapping[str, int] = field(default_factory=dict, hash=False)
    latency: float | None = None
    supported: bool = False
    routed: Place | None = None

    def counted(self, result: Result) -> dict[str, int]:
        """What limits are held against: of what is predicted the upper end."""
        found = {
            name: max(round(used + SURE * result.spread.get(name, 0.0)), result.upper.get(name, 0))
            for name, used in result.resources.items()
        }
        return found | self._after_routing(result)

    def shown(self, result: Result) -> dict[str, int]:
        """What people see next to the limits: the figures, or where routing decides its upper ends."""
        return {**result.resources, **self._after_routing(result)}

    def _after_routing(self, result: Result) -> dict[str, int]:
        if self.routed is None or result.provenance not in OF_CSYNTH:
            return {}
        upper = self.routed.routed(result.resources).upper
        return {name: upper[name] for name in DECIDED if name in upper}

    def most(self, name: str, of: int) -> int:
        """The most that csynth may count of a resource that the device has so many ``of``."""
        limit = self.resources.get(name, of)
        if self.routed is None or name not in DECIDED:
            return limit
        return self.routed.largest(name, limit)

    def excess(self, result: Result) -> dict[str, float]:
        """By how much each limit is exceeded, relative to it; empty where all are kept.

        Of what is predicted the upper end counts.
        """
        found: dict[str, float] = {}
        for name, used in self.counted(result).items():
            limit = self.resources.get(name)
            if limit is not None and used > limit:
                found[name] = used / limit - 1 if limit else float(used)
        cycles = result.latency
        if self.latency is not None and cycles is not None and cycles > self.latency:
            found["latency"] = cycles / self.latency - 1
        return found

    def unsupported(self, result: Result) -> str:
        """What takes a design out of the labels, where that is a limit; empty where nothing does."""
        if not self.supported or result.marks is None or result.marks.supported:
            return ""
        return result.marks.why


def device_limits(device: Device, share: float = 1.0, dsp: int | None = None) -> Limits:
    """The device's resources, or a share of each, as limits; ``dsp`` overrides that one."""
    limits = {name: int(getattr(device, name) * share) for name in RESOURCES}
    if dsp is not None:
        limits["dsp"] = dsp
    return Limits(limits)


def judged(result: Result, limits: Limits) -> Result:
    """The result, ``infeasible`` where it has figures over a limit."""
    if result.status is not Status.OK:
        return result
    if excess := limits.excess(result):
        text = ", ".join(f"{name} by {100 * over:.0f}%" for name, over in excess.items())
        return replace(result, status=Status.INFEASIBLE, detail=f"over its limit: {text}")
    if beyond := limits.unsupported(result):
        return replace(result, status=Status.INFEASIBLE, detail=f"beyond labels: {beyond}")
    return result
