"""Designs over a limit besides that of DSP slices, and which others that rules out, for good or for a while."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from dse.space.space import Point, Space
from dse.strategies.estimates import Structure, structure_of

SHORT = 4  # cycles, in which copies share units without much ado
_IN_VAIN = 3  # designs of a structure over a limit, after which larger ones are put off
_STEP_DOWN = 0.93


@dataclass(slots=True)
class TooMuch:
    """What is known of the designs of a search that are too large.

    Attributes:
        space: of the kernel.
        known: by structure, with the share that they are over a limit.
        ceilings: estimated DSP slices from which on a structure is put off: those tried there were too much.
        in_vain: of those over a limit below the ceiling.
    """

    space: Space
    known: dict[Structure, list[tuple[Point, float]]] = field(default_factory=dict)
    ceilings: dict[Structure, float] = field(default_factory=dict)
    in_vain: dict[Structure, list[float]] = field(default_factory=dict)

    def learn(self, point: Point, dsp: float, over: float) -> None:
        """One more, with its estimated DSP slices. Where several of a structure were too much, its largest
        designs are put off.
        """
        structure = structure_of(point)
        self.known.setdefault(structure, []).append((point, over))
        tried = self.in_vain.setdefault(structure, [])
        tried.append(dsp)
        if len(tried) >= _IN_VAIN:
            self.ceilings[structure] = min(max(tried), self.ceiling(structure)) * _STEP_DOWN
            tried.clear()

    def ceiling(self, structure: Structure) -> float:
        """The most DSP slices, as estimated, of designs that are not put off."""
        return self.ceilings.get(structure, inf)

    def reopened(self) -> bool:
        """Whether something was put off, which is not any more."""
        left = bool(self.ceilings)
        self.ceilings.clear()
        return left

    def rules_out(self, point: Point) -> bool:
        """Whether a point takes at least what one took that was too large."""
        return any(
            _larger(point, other) or self._as_dear(point, other, over)
            for other, over in self.known.get(structure_of(point), ())
        )

    def _as_dear(self, point: Point, other: Point, over: float) -> bool:
        """Whether copies that share units are as many as were too many: their LUTs are multiplexers, for each
        copy one, however few the units. Of the very same copies at another interval that design tells the LUTs.
        """
        pairs = zip(point.choices, other.choices, strict=True)
        if all(mine.vector == its.vector for mine, its in pairs):
            return False
        if not all(any(choice.ii > SHORT for choice in p.choices) for p in (point, other)):
            return False
        return self._copies(point) * (1 + over) >= self._copies(other)

    def _copies(self, point: Point) -> int:
        """Statements of the bodies."""
        return sum(
            self.space.order(point, n).copies(choice.vector)
            for n, choice in enumerate(point.choices)
        )


def _larger(point: Point, other: Point) -> bool:
    """Whether a point has at least the copies of another one of its structure, of each loop of each nest.

    Fewer copies of one loop and more of another may take fewer LUTs at as many DSP slices: an access that
    moves with the loop has its banks, one that does not a multiplexer.
    """
    return all(
        mine.ii <= its.ii and all(u >= v for u, v in zip(mine.vector, its.vector, strict=True))
        for mine, its in zip(point.choices, other.choices, strict=True)
    )
