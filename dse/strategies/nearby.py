"""Points that nobody has tried: neighbours of the designs on the front, and others at random.

The other strategies plan with cycles and DSP; where there is more to make small, or to keep to, what is
next to the best designs so far is worth more than what was planned before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random

from dse.space.nests.nest import Order, Vector
from dse.space.space import Point, Space
from dse.strategies.estimates import Estimates
from dse.strategies.neighbours import neighbours
from dse.strategies.sampled import points, sampled_point
from dsl.schedules.schedule import Schedule
from qor_gnn.result.pareto import covers

Values = tuple[float, ...]
_DRAWS = 1_000  # points in a row that are of no use before a space counts as spent
_FEW = 20_000  # points of a space that is gone through to the last one


@dataclass(slots=True)
class Nearby:
    """Proposes points that nobody has tried, each once: of points with one schedule only one.

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
    made: set[Schedule] = field(default_factory=set)
    spent: set[Point] = field(default_factory=set)
    through: set[bool] = field(default_factory=set)  # of `_rest`: what was gone through
    estimates: Estimates = field(init=False)

    def __post_init__(self) -> None:
        self.estimates = Estimates(self.space)

    def learn(self, point: Point, values: Values | None) -> None:
        """What came of a point: its objectives, or None where it does not keep to the limits."""
        if point not in self.tried:
            self.take(point)
        if values is None or point in self.front:
            return
        if any(covers(other, values) for other in self.front.values()):
            self.behind.append(point)
            return
        for other in [p for p, v in self.front.items() if covers(values, v)]:
            del self.front[other]
            self.behind.append(other)
        self.front[point] = values

    def next(self) -> Point | None:
        """A neighbour of the front, or else of another design; None where all were tried."""
        for point in (*self._mixed(list(self.front)), *self._mixed(self.behind)):
            if point in self.spent:
                continue
            for near in self._mixed(list(neighbours(self.space, point))):
                if self.affordable(near) and self.take(near):
                    return near
            self.spent.add(point)
        return None

    def anywhere(self) -> Point | None:
        """A point drawn from all of the space; None where there seem to be no more.

        What is estimated to be over the budget is taken only where nothing else is left and no design
        is known that keeps to the limits: the estimates may be wrong.
        """
        for within in (True,) if self.front else (True, False):
            for _ in range(_DRAWS):
                point = sampled_point(self, self.space)
                if (not within or self.affordable(point)) and self.take(point):
                    return point
            if self.space.size > _FEW or within in self.through:
                continue
            for point in self._mixed(list(points(self.space, _drawn))):
                if (not within or self.affordable(point)) and self.take(point):
                    return point
            self.through.add(within)
        return None

    def take(self, point: Point) -> bool:
        """Whether nobody has tried a point that there is a schedule of; from now on, somebody has."""
        if point in self.tried:
            return False
        self.tried.add(point)
        schedule = self.space.schedule(point)
        if schedule is None or schedule in self.made:
            return False
        self.made.add(schedule)
        return True

    def affordable(self, point: Point) -> bool:
        """Whether it is estimated to keep to the budget."""
        return self.estimates.figures(point).dsp <= self.budget

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """Drawn uniformly."""
        return self.random.randint(low, high)

    def _mixed(self, found: list[Point]) -> Iterator[Point]:
        return iter(self.random.sample(found, len(found)))


def _drawn(order: Order) -> Iterator[Vector]:
    """All factors that can be drawn."""
    return product(*(loop.factors for loop in order.loops))
