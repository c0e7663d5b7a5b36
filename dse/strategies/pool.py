"""Candidates of a search with their estimates."""

from __future__ import annotations

from dataclasses import dataclass, field

from dse.space.space import Point
from dse.strategies.estimates import Figures, Known, Structure, structure_of

Alike = tuple[Structure, float, float]


def alike_of(point: Point, figures: Figures) -> Alike:
    """Points of a structure with the same estimates are expected to be alike."""
    return (structure_of(point), round(figures.cycles, 3), figures.dsp)


@dataclass(slots=True)
class Pool:
    """Candidates with their estimates, and their structures by number."""

    points: list[Point] = field(default_factory=list)
    cycles: list[float] = field(default_factory=list)
    dsp: list[float] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    structures: dict[Known, int] = field(default_factory=dict)
    alike: dict[Alike, list[int]] = field(default_factory=dict)
    seen: set[Point] = field(default_factory=set)

    def add(self, point: Point, figures: Figures) -> None:
        """One more, if it is new."""
        if point in self.seen:
            return
        self.seen.add(point)
        known = figures.ruled, structure_of(point)
        number = self.structures.setdefault(known, len(self.structures))
        self.alike.setdefault(alike_of(point, figures), []).append(len(self.points))
        self.points.append(point)
        self.cycles.append(figures.cycles)
        self.dsp.append(figures.dsp)
        self.numbers.append(number)
