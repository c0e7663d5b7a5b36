"""What came of points: those with one schedule are one design, and have one result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dse.evaluators.base import Result, Status
from dse.space.memory.partitions import NO_PARTITION
from dse.space.space import Point, Space
from dsl.schedules.schedule import Schedule

_IMPOSSIBLE = Result(Status.INFEASIBLE, detail=NO_PARTITION)


@dataclass(slots=True)
class Known:
    """Results by their points.

    Attributes:
        space: of the points.
    """

    space: Space
    _results: dict[Point, Result] = field(default_factory=dict)
    _of_schedules: dict[Schedule, Result] = field(default_factory=dict)
    _schedules: dict[Point, Schedule | None] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Point, Result]]:
        return iter(self._results.items())

    def __len__(self) -> int:
        return len(self._results)

    def schedule(self, point: Point) -> Schedule | None:
        """Of a point; None where there is none."""
        if point not in self._schedules:
            self._schedules[point] = self.space.schedule(point)
        return self._schedules[point]

    def learn(self, point: Point, result: Result) -> None:
        """What came of a point; the last that is heard holds."""
        self._results[point] = result
        if (schedule := self.schedule(point)) is not None:
            self._of_schedules[schedule] = result

    def result(self, point: Point) -> Result | None:
        """What came of a point, or of another with its schedule; None where nobody has tried.

        What has no schedule cannot be built.
        """
        if point in self._results:
            return self._results[point]
        schedule = self.schedule(point)
        return _IMPOSSIBLE if schedule is None else self._of_schedules.get(schedule)
