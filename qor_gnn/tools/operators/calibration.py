"""A user's own measurements: what reports of their projects show of operators, laid over the shipped tables.

They are of timing classes, and count there alone. What the reports show wins; a cell of the shipped tables
that does not contradict them stays as it is, one that does is bounded by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qor_gnn.tools.operators.cells import Cell, Core, same_budget

_CLEAR = 1.0005  # a delay lies above a budget that it was too long for


@dataclass(frozen=True, slots=True)
class OwnCore:
    """What own reports show of a core in one class.

    Attributes:
        seen: budgets in ns, the smallest first, with the latency that was chosen at each; a longer budget
            never has more cycles.
        delays: of the longest stage in ns, by latency.
    """

    seen: tuple[tuple[float, int], ...] = ()
    delays: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class OwnClass:
    """What own reports show of one timing class.

    Attributes:
        floats: cores of floating point, as `qor_gnn.tools.operators.timing.Tables` names them.
        areas: of those: stages, DSP, FF, LUT.
        multipliers: of integers, by size.

    Delays of logic are not among them: how long a sum takes depends on the constants of the program as well, and
    those of some public projects made the delays of others worse (docs/guide/calibrate.md).
    """

    floats: Mapping[str, OwnCore] = field(default_factory=dict)
    areas: Mapping[str, tuple[tuple[int, int, int, int], ...]] = field(default_factory=dict)
    multipliers: Mapping[str, OwnCore] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Nothing is shown."""
        return not (self.floats or self.areas or self.multipliers)


NOTHING = OwnClass()


@dataclass(frozen=True, slots=True)
class Routing:
    """What placing and routing left of what csynth prints of a resource: shares, of so many projects."""

    projects: int
    median: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A calibration: own measurements by timing class. Two of one digest are the same.

    Attributes:
        digest: of the classes.
        classes: what is shown of each.
        routing: what placing and routing left of a resource.
        facts: all of it as JSON, to be kept in a run or sent to another process.
    """

    digest: str
    classes: Mapping[str, OwnClass] = field(hash=False, compare=False)
    routing: Mapping[str, Routing] = field(hash=False, compare=False)
    facts: Mapping[str, Any] = field(hash=False, compare=False, repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What estimates do not say of designs that are placed and routed."""
        return tuple(
            f"in {r.projects} of your projects routing left {r.least:.2f} to {r.most:.2f} of the {name.upper()} "
            f"that csynth prints, half of them {r.median:.2f} or more"
            for name, r in self.routing.items()
        )

    def of(self, timing: str) -> OwnClass:
        """What it has of a timing class."""
        return self.classes.get(timing, NOTHING)


def laid_over(core: Core, own: OwnCore) -> Core:
    """A shipped core with a user's own measurements over it.

    Args:
        core: of the class.
        own: what reports of the class show.
    """
    seen = [choice for choice in core.seen if _stands(choice, own)]
    told = {c.latency: c for c in core.cells}
    delays = dict(own.delays)
    cells = []
    for latency in sorted({*told, *delays}):
        if latency in delays:
            delay = delays[latency]
            cells.append(Cell(latency, delay, delay, delay))
        else:
            cells.append(_bounded(told[latency], own))
    budgets = frozenset(b for b, _ in own.seen)
    return Core(tuple(cells), tuple(sorted([*seen, *own.seen])), budgets)


def _stands(shipped: tuple[float, int], own: OwnCore) -> bool:
    """A shipped choice that own reports do not contradict.

    It is of another budget than theirs, has not fewer cycles than they have with more time, and no stage that they
    measured would have been taken instead.
    """
    b, n = shipped
    for budget, latency in own.seen:
        if same_budget(b, budget) or (n < latency if b < budget else n > latency):
            return False
    return not any(
        (k < n and delay <= b) or (k >= n and delay > b * _CLEAR) for k, delay in own.delays
    )


def _bounded(cell: Cell, own: OwnCore) -> Cell:
    """A shipped cell within what own reports leave it."""
    k = cell.latency
    low = max(
        [b * _CLEAR for b, n in own.seen if n > k] + [d for n, d in own.delays if n > k],
        default=0.0,
    )
    high = min(
        [b for b, n in own.seen if n <= k] + [d for n, d in own.delays if n < k],
        default=float("inf"),
    )
    if low <= cell.low and cell.high <= high:
        return cell
    high = max(low, high)
    low, high = max(low, min(cell.low, high)), min(high, max(cell.high, low))
    return Cell(k, min(max(cell.delay, low), high), low, high, known=False)
