"""The copies of a body that a design asks for: loops that are unrolled, or inside of a pipelined one.

What a tool unrolls by itself is not here: that differs from one version to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dsl.expressions.affine import Affine
from polyhedral.banks.wanted import Use
from polyhedral.looptree.bounds import Bounds


@dataclass(frozen=True, slots=True)
class Told:
    """The loops around a place.

    Attributes:
        steps: of each loop, times its counter. Where a loop begins does not count: copies are as far from each
            other wherever the first of them is.
        copies: of each counter.
        gone: counters of which nothing is left to run.
        pipelined: some loop around is a pipeline, so that all further in are unrolled completely.
    """

    steps: Mapping[str, Affine] = field(default_factory=dict)
    copies: Mapping[str, int] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    pipelined: bool = False

    def inside(
        self, iv: str, bounds: Bounds, ii: int | None, unroll: int | None, most: int | None
    ) -> Told:
        """The place of a loop's body.

        Args:
            iv: the loop's variable.
            bounds: of the loop.
            ii: the interval that is asked for, None where the loop is not pipelined.
            unroll: the factor that is asked for: 0 is completely, None not at all.
            most: iterations that it has at most, where the bounds do not say it.
        """
        trips = bounds.trip_count if bounds.trip_count is not None else most
        complete = trips is not None and (
            self.pipelined or unroll == 0 or (unroll is not None and unroll >= trips)
        )
        return Told(
            {**self.steps, iv: Affine.of(iv) * bounds.step},
            {**self.copies, iv: max(1, (trips if complete else unroll) or 1)},
            self.gone | {iv} if complete else self.gone,
            # A loop of which all iterations are copies is no pipeline any more.
            self.pipelined or (ii is not None and not (complete and bounds.trip_count is not None)),
        )

    def use(self, array: str, indices: tuple[Affine, ...]) -> Use:
        """An access that stands here."""
        subscripts = tuple(index.substitute(self.steps) for index in indices)
        return Use(array, subscripts, self.copies, self.gone)
