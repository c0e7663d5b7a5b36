"""What a kernel is judged by: the figures of the expert's design, and the lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from backends.devices import device
from benchmarks.corpus.registry import EXPERT, Entry
from dse.bounds.bounds import Bound, bounds
from dse.bounds.work import work_of
from dse.evaluators.base import Limits, Request, Result, Status, device_limits, judged
from dse.evaluators.model import ModelEvaluator, personality_for

CLOCK = 10.0  # ns
RESOURCES = ("dsp", "lut", "ff", "bram18")


@dataclass(frozen=True)
class Judgement:
    """The expert's design of a kernel.

    Attributes:
        cycles: its latency; None where the schedule was refused.
        resources: what it uses, by name.
        status: ``ok`` where it keeps to the budget; else the evaluator's word.
        detail: why it is not ``ok``.
        bound: what no schedule of the kernel as it was written can beat.
    """

    cycles: float | None
    resources: dict[str, int]
    status: str
    detail: str
    bound: Bound

    @property
    def feasible(self) -> bool:
        """Whether the design is legal and keeps to the budget."""
        return self.status == Status.OK.value

    @property
    def ratio(self) -> float | None:
        """Cycles by the lower bound, which may be 0."""
        return None if self.cycles is None else self.cycles / max(1, self.bound.cycles)


def limits_of(entry: Entry) -> Limits:
    """The budget as counts."""
    return device_limits(device(entry.budget.device), entry.budget.share)


@cache
def experts_design(entry: Entry) -> Result:
    """The expert's design as the white-box model sees it, judged by the budget; nothing is run."""
    expert = entry.expert
    request = Request(expert.program, expert.schedules[EXPERT], device(entry.budget.device), CLOCK)
    return judged(ModelEvaluator().evaluate(request), limits_of(entry))


@cache
def judgement(entry: Entry) -> Judgement:
    """The expert's design, and the bound, which takes longer."""
    tool = personality_for(device(entry.budget.device), CLOCK)
    found, limits = experts_design(entry), limits_of(entry)
    work = work_of(entry.kernel.program, tool, entry.budget.reassociate)
    bound = bounds(work, tool, limits.resources["dsp"], limits.resources["lut"]).tightest
    used = {name: found.resources[name] for name in RESOURCES if name in found.resources}
    return Judgement(found.latency, used, found.status.value, found.detail, bound)
