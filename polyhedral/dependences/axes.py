"""Loops and accesses as questions about distances name them."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.expressions.affine import Affine, Constraint


@dataclass(frozen=True, slots=True)
class Axis:
    """``for iv = max(lowers); iv < min(uppers); iv += step``; bounds over the axes outside."""

    iv: str
    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    step: int = 1

    @property
    def trips(self) -> int | None:
        """The number of iterations where it is the same in every execution."""
        extents = [u - low for u in self.uppers for low in self.lowers]
        if not all(e.is_const for e in extents):
            return None
        return max(0, -(-min(e.const for e in extents) // self.step))


@dataclass(frozen=True, slots=True)
class Spot:
    """The element that an access touches in an iteration, and where it does.

    ``inside`` are loops that an iteration runs as a whole: each of theirs has an access.
    """

    indices: tuple[Affine, ...]
    guard: tuple[Constraint, ...] = ()
    inside: tuple[Axis, ...] = ()
