"""Optimism marked: e, n and phi of an estimated design, by what the labels of its tool show."""

from __future__ import annotations

from dataclasses import dataclass

STEADY = 1.1
"""phi, up to which a design is supported."""


@dataclass(frozen=True, slots=True)
class Marks:
    """How far a design leaves what the labelled designs of its tool show.

    Attributes:
        e: the largest ratio of a size (operations of a region, ports, banks, copies, adders in fabric, terms of
            a sum, LUTs) to the largest that a label has.
        unseen: structures that no label has; n is their number.
        phi: its cycles under perturbed rules over its own, the largest; None where that was not asked.
        largest: the size that ``e`` is of.
        rule: the perturbation that ``phi`` is of; empty where none makes it slower.
    """

    e: float
    unseen: tuple[str, ...] = ()
    phi: float | None = None
    largest: str = ""
    rule: str = ""

    @property
    def n(self) -> int:
        """How many structures no label has."""
        return len(self.unseen)

    @property
    def inside(self) -> bool:
        """Labels show all that the design has."""
        return self.e <= 1 and not self.unseen

    @property
    def supported(self) -> bool:
        """Inside, and as fast where the tool is a little different, as far as that was asked."""
        return self.inside and (self.phi is None or self.phi <= STEADY)

    @property
    def why(self) -> str:
        """What takes it out of the labels, for people; empty of a supported design."""
        parts = [self.largest] if self.e > 1 else []
        parts += self.unseen
        if self.phi is not None and self.phi > STEADY:
            parts.append(f"{self.phi:.2f} times the cycles with {self.rule}")
        return ", ".join(parts)
