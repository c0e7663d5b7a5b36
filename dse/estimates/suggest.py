"""Steps that would make a design better: tried with the model before they are named.

Candidates come from what limits each loop. Every one is carried out on the schedule, so that an
illegal one falls out, and estimated: what is suggested is legal and does help.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dse.estimates.estimation import Estimation, ranked
from dse.estimates.suggest_steps import Change, changed, changes, partitions
from dsl.errors.errors import LanguageError, ScheduleError, ToolError
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition, Step
from polyhedral.schedule import apply
from qor_gnn.design.directives import with_directives, written_unrolls
from qor_gnn.design.region import Kernel
from qor_gnn.estimate import estimate
from qor_gnn.result.qor_estimate import LoopEstimate, QorEstimate
from qor_gnn.schedule.reasons import PortLimit

_LOOPS = 3  # that are worth a suggestion: the ones that take longest
_EACH = 2  # suggestions for one loop
_LEAST_SHARE = 0.02  # of the latency, of a loop that is worth one
_BETTER = 0.99  # of the latency before
_FEWER = 0.9  # of the DSP slices before
_ROUNDS = 5  # partitions that one suggestion may take
RESOURCES = ("dsp", "lut", "ff", "bram18", "uram")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Steps to take back and steps to add, and what the model says of the design then.

    Attributes:
        loop: position in the estimate's ``loops``.
        removed, added: steps of the schedule.
        schedule: the whole schedule with them.
        answer: the estimate under it.
    """

    loop: int
    removed: tuple[Step, ...]
    added: tuple[Step, ...]
    schedule: Schedule
    answer: QorEstimate

    @property
    def python(self) -> tuple[str, ...]:
        """The change as lines to paste into the schedule's function."""
        gone = [f"# without {line}" for line in _python(self.removed)]
        return (*gone, *_python(self.added))


def _python(steps: Iterable[Step]) -> list[str]:
    text = Schedule(tuple(steps)).to_python()
    return [line.strip() for line in text.splitlines()[2:] if line.strip() != "pass"]


def suggestions(base: Estimation) -> tuple[Suggestion, ...]:
    """What would help the loops in which a design spends its time, the longest first.

    Args:
        base: the design, estimated with ``explain``.
    """
    found: list[Suggestion] = []
    for n in worth(base.answer):
        own = [s for s in _of_loop(base, n) if helps(base, s.answer)]
        own.sort(key=lambda s: (s.answer.latency.average, s.answer.dsp, len(s.added)))
        found += _different(own)[:_EACH]
    return tuple(found)


def worth(answer: QorEstimate) -> list[int]:
    """Positions of the loops that take most of the time: for these something is tried."""
    parts = shares(answer)
    found = [n for n, loop in enumerate(answer.loops) if loop.kind != "nest"]
    found.sort(key=lambda n: (-parts[n], n))
    return [n for n in found if parts[n] >= _LEAST_SHARE][:_LOOPS]


def _different(found: list[Suggestion]) -> list[Suggestion]:
    """Not two that give the same design, the shorter one of them first."""
    seen: dict[tuple[float, int], Suggestion] = {}
    for s in found:
        seen.setdefault((s.answer.latency.average, s.answer.dsp), s)
    return list(seen.values())


def shares(answer: QorEstimate) -> list[float]:
    """The part of the design's latency that each of its loops takes, inner loops within outer."""
    around: list[float] = []
    found = []
    for loop in answer.loops:
        del around[loop.level :]
        times = (around[-1] if around else 1.0) * loop.copies
        found.append(times * loop.latency.average / max(1.0, answer.latency.average))
        around.append(times * loop.trips.average)
    return found


def helps(base: Estimation, new: QorEstimate) -> bool:
    """Faster, or as fast with fewer DSP slices; and it fits the device, if the design did."""
    old = base.answer
    if not all(_fits(base, new, name) for name in RESOURCES):
        return False
    if new.latency.average < _BETTER * old.latency.average:
        return True
    return new.latency.average <= old.latency.average and new.dsp < _FEWER * old.dsp


def _fits(base: Estimation, new: QorEstimate, name: str) -> bool:
    used, before = getattr(new, name), getattr(base.answer, name)
    if used is None:
        return True
    limit: int = getattr(base.setting.device, name)
    return bool(used <= limit or (before is not None and used <= before))


# ------------------------------------------------------------------------------------- candidates


def _of_loop(base: Estimation, n: int) -> Iterator[Suggestion]:
    loop = base.answer.loops[n]
    for alternatives in ((Change(),), *changes(base, loop)):
        for change in alternatives:  # the first of them that is legal
            tried = _tried(base, change)
            if tried is None:
                continue
            if change != Change():
                yield Suggestion(n, change.removed, change.added, tried.schedule, tried.answer)
            more = _with_ports(base, change, tried, loop)
            if more is not None:
                yield Suggestion(n, change.removed, more[0].added, more[1].schedule, more[1].answer)
            break


def _tried(base: Estimation, change: Change) -> Estimation | None:
    """The design with a change; None where that is not legal."""
    try:
        schedule = changed(base.schedule, change)
        return ranked(apply(base.program, schedule), schedule, base.setting)
    except (ScheduleError, LanguageError, ToolError):
        return None


def _with_ports(
    base: Estimation, change: Change, tried: Estimation, loop: LoopEstimate
) -> tuple[Change, Estimation] | None:
    """The change with the partitions that its ports want, one array after the other."""
    regions, answer = tried.regions, tried.answer
    steps: dict[tuple[str, int], Partition] = {}
    for _ in range(_ROUNDS):
        limit = strongest(answer, loop)
        found = _relief(base, regions, limit, loop) if isinstance(limit, PortLimit) else None
        if found is None:
            break
        step, regions, answer = found
        steps[step.array, step.dim] = step
    if not steps:
        return None
    more = Change(change.removed, (*change.added, *steps.values()))
    whole = _tried(base, more)
    return None if whole is None else (more, whole)


def _relief(
    base: Estimation, regions: Kernel, limit: PortLimit, loop: LoopEstimate
) -> tuple[Partition, Kernel, QorEstimate] | None:
    """The partition with the fewest banks that takes an array's ports out of the way, else that
    which helps most.
    """
    best: tuple[int, tuple[Partition, Kernel, QorEstimate]] | None = None
    kept = written_unrolls(base.schedule)
    for step in partitions(regions, limit):
        design = with_directives(regions, (step,))
        answer = estimate(design, base.setting.tool, base.setting.device, kept=kept)
        after = strongest(answer, loop)
        if not isinstance(after, PortLimit) or after.array != limit.array:
            return step, design, answer
        if after.interval < (limit.interval if best is None else best[0]):
            best = after.interval, (step, design, answer)
    return None if best is None else best[1]


def strongest(answer: QorEstimate, loop: LoopEstimate) -> object:
    """What limits the loop, wherever it is in another design; None where it is not there."""
    same = [
        other
        for other in answer.loops
        if other.limits and set(other.statements) & set(loop.statements)
    ]
    worst = max(same, key=lambda other: other.trips.average * other.ii, default=None)
    return worst.limits[0] if worst is not None else None
