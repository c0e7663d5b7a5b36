"""A figure that is not known exactly: the least, what is expected, and the most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and its range, all in one unit; ``low <= value <= high``."""

    low: float
    value: float
    high: float

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.value + other.value, self.high + other.high)

    def scaled(self, factor: float) -> Interval:
        """The figure in another unit."""
        return Interval(self.low * factor, self.value * factor, self.high * factor)
