"""A search as a coroutine: it yields points, and goes on when it is sent what came of them.

What it enumerates or prices by itself on the way is nobody's trial. Who carries it out decides what to
do for a point: a sampler makes a trial of it (`dse.samplers`), a measurement calls a function (`evaluated`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from dse.evaluators.base import Result
from dse.space.space import Point

Search: TypeAlias = Generator[tuple[Point, ...], Sequence[Result], None]
"""Yields points, none of which needs the result of another; is sent their results in the same order.

It may ask for a point more than once: a point has one result.
"""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A point that a search asked for, and what came of it."""

    point: Point
    result: Result


def evaluated(search: Search, evaluate: Callable[[Point], Result]) -> Iterator[Evaluated]:
    """Carry a search out by a function, a point at a time."""
    with suppress(StopIteration):
        points = next(search)
        while True:
            results = []
            for point in points:
                results.append(evaluate(point))
                yield Evaluated(point, results[-1])
            points = search.send(results)


def noted(search: Search, known: MutableMapping[Point, Result]) -> Search:
    """The same search; what came of its points is noted."""
    with suppress(StopIteration):
        points = next(search)
        while True:
            results = yield points
            known.update(zip(points, results, strict=True))
            points = search.send(results)
