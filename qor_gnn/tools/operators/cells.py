"""The law of selection: an operator has the least latency whose longest stage fits into the budget.

The budget is the clock period less the tool's uncertainty. The delay of the longest stage depends on the
core, the timing class of the device and the latency, not on the clock, and hardly on the version
(docs/qor-model.md). A cell is such a delay. Those that no report shows are bounded by what was chosen at
other budgets, and interpolated.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

Origin = Literal["measured", "derived", "extrapolated"]
"""Where a figure comes from: reports of this class at this budget; the law over measured cells; neither."""

_SAME = 0.002  # of a budget: reports round to hundredths of a nanosecond
_STEP = 0.006  # ns


def same_budget(one: float, other: float) -> bool:
    """Two budgets in ns that reports print alike."""
    return abs(one - other) <= max(_STEP, _SAME * other)


@dataclass(frozen=True, slots=True)
class Cell:
    """The longest stage of a core at a latency, in ns; it is between ``low`` and ``high``.

    ``known``: a report shows it, or it follows from one that does by a ratio that always holds.
    """

    latency: int
    delay: float
    low: float
    high: float
    known: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """What the tool takes, and the range that the bounds of cells leave; cycles and ns.

    ``own``: the user's own reports show it at this budget.
    """

    latency: int
    delay: float
    least: int
    most: int
    origin: Origin
    own: bool = False


@dataclass(frozen=True, slots=True)
class Core:
    """A core in one timing class.

    Attributes:
        cells: by latency, the lowest first.
        seen: budgets in ns, the smallest first, with the latency that was chosen at each.
        own: those of them that the user's own reports show.
    """

    cells: tuple[Cell, ...]
    seen: tuple[tuple[float, int], ...] = ()
    own: frozenset[float] = frozenset()

    def choose(self, budget: float) -> Choice:
        """The latency at a budget in ns: the deepest where none fits."""
        at = bisect_left(self.seen, (budget,))
        for known, latency in self.seen[max(at - 1, 0) : at + 1]:
            if same_budget(known, budget):
                own = known in self.own
                return Choice(latency, self._delay(latency), latency, latency, "measured", own)
        # A shorter budget never takes fewer cycles.
        floor = self.seen[at][1] if at < len(self.seen) else self.cells[0].latency
        ceiling = self.seen[at - 1][1] if at > 0 else self.cells[-1].latency

        def first(bound: str) -> int:
            fits = (c.latency for c in self.cells if getattr(c, bound) <= budget)
            return min(max(next(fits, self.cells[-1].latency), floor), max(floor, ceiling))

        latency, least, most = first("delay"), first("low"), first("high")
        known = least == most and all(c.known for c in self.cells if c.latency == latency)
        bounded = floor == ceiling and 0 < at < len(self.seen)
        origin: Origin = "derived" if known or bounded else "extrapolated"
        return Choice(
            latency, self._delay(latency), min(least, latency), max(most, latency), origin
        )

    def _delay(self, latency: int) -> float:
        return next((c.delay for c in self.cells if c.latency == latency), 0.0)

    def scaled(self, factor: float) -> Core:
        """The core where everything takes ``factor`` as long: nothing of it was seen."""
        cells = (
            Cell(c.latency, c.delay * factor, c.low * factor * 0.9, c.high * factor * 1.1, False)
            for c in self.cells
        )
        return Core(tuple(cells))
