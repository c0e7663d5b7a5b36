"""Reassociation: the order in which a tool adds the terms of an unrolled sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of floating point, of which a schedule may allow any order (unsafe math).

    Attributes:
        order: ``chain``: as written. ``root``: a tree of the terms, to whose root the accumulator is added.
            ``leaf``: a tree of which the accumulator is a leaf like any other; where an interval of more than 1 is
            asked for, ``root`` (as reports have it: no mechanism is known).
        saved: states of each addition of such a tree, and of each product on a recurrence of several operators
            through registers, which then closes a state later.
        exit: states of a sum in front of the exit that a flattened, partly unrolled loop may end at.
    """

    order: Literal["chain", "root", "leaf"] = "chain"
    saved: int = 0
    exit: int = 0

    @property
    def reassociates(self) -> bool:
        """Sums of floating point are trees."""
        return self.order != "chain"

    def saves(self, kind: str) -> int:
        """States at most that an operator of a recurrence is shorter: a product, or what trees add."""
        return self.saved if kind == "mul" or self.reassociates else 0
