"""A search's points one by one, as trials ask for them; see `dse.strategies.search`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from math import inf

from dse.evaluators.base import Result
from dse.samplers.known import Known
from dse.space.space import Point
from dse.strategies.search import Search
from dsl.schedules.schedule import Schedule
from polyhedral.deadline import DeadlinePassedError, until


@dataclass(slots=True)
class Steps:
    """A search under way.

    It is begun anew in each process: what is known of its points already goes to it without a trial, so
    it gets to where it was.

    Attributes:
        begin: begins it.
        known: what came of points.
        ends: when it is given up, of `time.monotonic`.
        ended: it has no more points.
    """

    begin: Callable[[], Search]
    known: Known
    ends: float = inf
    ended: bool = False
    _search: Search | None = None
    _points: tuple[Point, ...] = ()
    _left: deque[Point] = field(default_factory=deque)

    def next(self, under_way: Collection[Schedule]) -> Point | None:
        """The next point that nobody has tried; None where there is none yet, or no more.

        Args:
            under_way: what is being tried.
        """
        return self._left.popleft() if self.ready(under_way) else None

    def ready(self, under_way: Collection[Schedule]) -> bool:
        """Whether there is a next point; where not, it has ended, or waits for what is under way."""
        while not self.ended:
            while self._left:
                point = self._left[0]
                if self.known.result(point) is None and self.known.schedule(point) not in under_way:
                    return True
                self._left.popleft()
            results = [self.known.result(point) for point in self._points]
            missing = [p for p, r in zip(self._points, results, strict=True) if r is None]
            if not missing:
                self._go_on([r for r in results if r is not None])
            elif any(self.known.schedule(point) in under_way for point in missing):
                return False
            else:  # their trials came to nothing
                self._left.extend(missing)
        return False

    def _go_on(self, results: list[Result]) -> None:
        try:
            with until(self.ends):
                if self._search is None:
                    self._search = self.begin()
                    self._points = next(self._search)
                else:
                    self._points = self._search.send(results)
        except (StopIteration, DeadlinePassedError):
            self.ended = True
            self._points = ()
        self._left = deque(self._points)
