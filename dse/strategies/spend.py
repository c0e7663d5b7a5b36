"""How much less to spend on a design that turned out to be over a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, inf

from dse.evaluators.base import Limits, Result
from dse.space.space import Point
from dse.strategies.fabric import PLANNED, FabricBudget, FabricPlan

_PART = 16  # of the slices that are planned with
_STEEPER = 0.5  # of what a design is over, that one more in a row is planned with less
_IN_VAIN = 2  # times in a row; the odd factor makes dear banks once


@dataclass(slots=True)
class Spend:
    """What one structure after the other is planned with.

    Attributes:
        budget: DSP slices that a design may have.
        fabric: LUTs and block RAM that it may have.
        dsp: slices to plan with.
    """

    budget: int
    fabric: FabricBudget
    dsp: int = field(init=False)
    _most: float = inf  # LUTs, as estimated, of what turned out too dear, less what it was over
    _before: tuple[float, Result] | None = None
    _slices: tuple[int, Result] | None = None  # planned with for the last design, and what it took
    _vain: int = 0
    _missed: int = 0  # designs in a row that took too many LUTs

    def __post_init__(self) -> None:
        self.dsp = self.budget

    def plan(self, variant: int) -> FabricPlan | None:
        """LUTs and block RAM to plan a variant with."""
        return self.fabric.plan(variant, most=self._most)

    def lowered(self, over: float) -> bool:
        """Whether there is a little less to plan with, where all that was planned takes so many slices too many: other
        factors may take far fewer.
        """
        self.dsp -= max(1, min(ceil(over), self.dsp // _PART))
        return self.dsp >= 1

    def tightened(self, over: float, point: Point) -> None:
        """There are fewer LUTs to plan with: a plan came out as a point of more, by a share."""
        self._most = min(self._most, self.fabric.lut_of(point)) / (1 + over)

    def reduced(self, point: Point, result: Result, limits: Limits) -> bool:
        """Whether there is less to plan with after a design; not where it is within the limits, or less is in vain."""
        excess = limits.excess(result)
        planned = () if self.fabric.free else PLANNED
        dsp = less(self.dsp, self.budget, result, limits, planned)
        over = excess.get("lut", 0.0) if planned else 0.0
        self._missed = self._missed + 1 if over else 0
        if (dsp is None and not over) or (dsp is not None and dsp < 1):
            return False
        measure = float(self.dsp) if self.fabric.free else self.fabric.lut_of(point)
        if over:
            # Smaller designs err more where what is there anyway is underestimated: the step grows with each miss.
            self._most = min(self._most, measure / (1 + over * (1 + _STEEPER * (self._missed - 1))))
        now = (measure, result)
        hopeless = self._before is not None and in_vain(self._before, now, limits)
        self._vain = self._vain + 1 if hopeless else 0
        self._before = now
        if dsp is not None and self._slices is not None:
            further = on_line(self._slices, (self.dsp, result), limits, planned)
            dsp = max(int(min(dsp, further)), dsp // 2)
        self._slices = self.dsp, result
        self.dsp = self.dsp if dsp is None else dsp
        return self._vain < _IN_VAIN


def less(
    spend: int, budget: int, result: Result, limits: Limits, planned: Sequence[str] = ()
) -> int | None:
    """The DSP to plan with next, or None where the result keeps to the limits.

    What is over in DSP is planned less; what is over in another resource, or in more DSP than there
    is to plan with, shrinks the plan by the same share, as nearly everything grows with the copies.

    Args:
        spend: DSP that the design was planned with.
        budget: DSP that it may have.
        result: with figures.
        limits: on all resources.
        planned: resources that are planned with, too.
    """
    over = result.resources.get("dsp", 0) - budget
    excess = [
        e for name, e in limits.excess(result).items() if name not in ("dsp", "latency", *planned)
    ]
    found = spend
    if over > 0:
        found = spend - over if over < spend else spend * budget // (budget + over)
    if excess:
        found = min(found, int(spend / (1 + max(excess))))
    if over <= 0 and not excess:
        return None
    return min(found, spend - 1)


def on_line(
    dearer: tuple[int, Result], cheaper: tuple[int, Result], limits: Limits, planned: Sequence[str]
) -> float:
    """DSP to plan with so that what is over a limit keeps to it, on a straight line through two designs: what does not
    grow with the copies is there whatever is planned with.

    Args:
        dearer: what it was planned with, and its figures.
        cheaper: those of the next, which is over a limit.
        limits: on all resources.
        planned: resources that are planned with besides.
    """
    (more, first), (fewer, second) = dearer, cheaper
    found = inf
    for name in limits.excess(second):
        if name in ("dsp", "latency", *planned) or fewer >= more:
            continue
        there, here = first.resources.get(name, 0), second.resources.get(name, 0)
        if there > here:
            found = min(
                found, fewer - (here - limits.resources[name]) * (more - fewer) / (there - here)
            )
    return found


def in_vain(dearer: tuple[float, Result], cheaper: tuple[float, Result], limits: Limits) -> bool:
    """Whether a structure takes more than a limit whatever is planned with: of two designs of it, what does not
    shrink with the plan is over a limit already, on a straight line through both.

    Args:
        dearer: what it was planned with, DSP or LUTs, and its figures.
        cheaper: those of one that was planned with less.
        limits: on all resources.
    """
    more, first = dearer
    fewer, second = cheaper
    if fewer >= more:
        return False
    for name, limit in limits.resources.items():
        if name == "dsp":
            continue
        there, here = first.resources.get(name, 0), second.resources.get(name, 0)
        slope = (there - here) / (more - fewer)
        if slope > 0 and here - slope * fewer > limit:
            return True
    return False
