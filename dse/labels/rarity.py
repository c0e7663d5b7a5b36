"""Large designs taken more rarely than small ones: the tools' time grows with the size."""

from __future__ import annotations

import random

from backends.rtl.area.estimate import area
from backends.rtl.synth import SynthOptions, rtl_of
from backends.rtl.wrap.host import host_wrapper
from dsl.errors.errors import WeftError
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import Design

_POWER = 1.5


class Rarity:
    """Takes designs of more than so many estimated LUT with the chance (limit / estimate) ** 1.5.

    Where as many of each doubling in size are proposed, a doubling then costs the tools a little
    less time than the one before.
    """

    def __init__(self, plain: Design, above: int, seed: int, options: SynthOptions) -> None:
        """
        Args:
            plain: The kernel without a schedule.
            above: The limit.
            seed: Of the chance.
            options: What the designs are made for.
        """
        self._above, self._options = above, options
        self._chance = random.Random(seed)
        self._most = 0.0  # LUT of what may be taken
        self._plain = self._luts(Schedule(), plain)

    def may_take(self, copies: int) -> bool:
        """Whether a design with so many copies of a statement is worth making.

        It takes at least the plain design's LUT times the fourth root of the copies: memory and
        control are shared, units at most in part.
        """
        self._most = self._above / (1.0 - self._chance.random()) ** (1 / _POWER)
        least: float = self._plain * copies**0.25
        return least < self._most

    def takes(self, schedule: Schedule, design: Design) -> bool:
        """Whether the design, which `may_take` let pass, is taken."""
        return self._luts(schedule, design) < self._most

    def _luts(self, schedule: Schedule, design: Design) -> float:
        try:
            made = rtl_of(design.module, schedule, self._options)
        except WeftError:  # its line in the dataset says why there is no hardware for it
            return 0.0
        return area(host_wrapper(made).module).lut
