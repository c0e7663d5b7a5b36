"""Neighbours of the designs on the front, whatever the objectives are.

The other strategies plan with cycles and DSP; where there is more to make small, or to keep to, what is
next to the best designs so far is worth more than what was planned before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from dse.space.space import Point, Space
from dse.strategies.estimates import Estimates
from dse.strategies.refine import neighbours

Values = tuple[float, ...]


@dataclass(slots=True)
class Nearby:
    """Proposes points that nobody has tried.

    Attributes:
        space: of the kernel.
        budget: DSP slices that a design may be estimated to use.
        random: chooses.
    """

    space: Space
    budget: int
    random: Random
    front: dict[Point, Values] = field(default_factory=dict)
    behind: list[Point] = field(default_factory=list)
    tried: set[Point] = field(default_factory=set)
    spent: set[Point] = field(default_factory=set)
    estimates: Estimates = field(init=False)

    def __post_init__(self) -> None:
        self.estimates = Estimates(self.space)

    def learn(self, point: Point, values: Values | None) -> None:
        """What came of a point: its objectives, or None where it does not keep to the limits."""
        self.tried.add(point)
        if values is None or point in self.front:
            return
        if any(_covers(other, values) for other in self.front.values()):
            self.behind.append(point)
            return
        for other in [p for p, v in self.front.items() if _covers(values, v)]:
            del self.front[other]
            self.behind.append(other)
        self.front[point] = values

    def next(self) -> Point | None:
        """A neighbour of the front, or else of another design; None where all were tried."""
        for point in (*self._mixed(list(self.front)), *self._mixed(self.behind)):
            if point in self.spent:
                continue
            for near in self._mixed(list(neighbours(self.space, point))):
                if near not in self.tried and self._possible(near):
                    self.tried.add(near)
                    return near
            self.spent.add(point)
        return None

    def _possible(self, point: Point) -> bool:
        if self.estimates.figures(point).dsp > self.budget:
            return False
        return self.space.schedule(point) is not None

    def _mixed(self, points: list[Point]) -> Iterator[Point]:
        return iter(self.random.sample(points, len(points)))


def _covers(one: Values, other: Values) -> bool:
    """At least as good in everything."""
    return all(a <= b for a, b in zip(one, other, strict=True))
