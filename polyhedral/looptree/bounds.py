"""The bounds of a counted loop, and how many iterations they leave."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expressions.affine import Affine


@dataclass(frozen=True, slots=True)
class Bounds:
    """``for iv = max(lowers); iv < min(uppers); iv += step``."""

    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    step: int

    @property
    def are_constant(self) -> bool:
        """No variable occurs."""
        return all(e.is_const for e in (*self.lowers, *self.uppers))

    @property
    def trip_count(self) -> int | None:
        """The number of iterations where it does not depend on any variable, else None."""
        if self.are_constant:
            extent = min(u.const for u in self.uppers) - max(low.const for low in self.lowers)
            return max(0, -(-extent // self.step))
        extents = [u - low for u in self.uppers for low in self.lowers]
        if not all(e.is_const for e in extents):
            return None
        return max(0, -(-min(e.const for e in extents) // self.step))
