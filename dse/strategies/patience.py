"""How long a search may take, in trials and, where somebody has said so, in seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf

_STRUCTURES = 0.4
"""Of the time, for finding structures."""
_PLANNING = 0.6
"""Of the time, for planning all of them at once: what is found is evaluated in the rest."""
_FIGURES = 3.0
"""Seconds after the end for the last figures of what was found."""


@dataclass(frozen=True, slots=True)
class Patience:
    """When a search has to come to its end, times by `time.monotonic`.

    Attributes:
        structures: until when structures are looked for.
        planning: until when structures are planned that no design is known of.
        ends: until when trials begin.
        figures: until when the last figures of what was found are made.
        trials: how many there are in all; infinite where nobody knows.
    """

    structures: float = inf
    planning: float = inf
    ends: float = inf
    figures: float = inf
    trials: float = inf

    @property
    def is_over(self) -> bool:
        """No further trial begins, but for one if there is no design."""
        return time.monotonic() >= self.ends

    @property
    def is_planned(self) -> bool:
        """What has been planned will do."""
        return time.monotonic() >= self.planning


ENDLESS = Patience()


def patience_of(seconds: float | None, trials: float = inf) -> Patience:
    """One of so many seconds from now on, None for any number, and so many trials."""
    if seconds is None:
        return Patience(trials=trials)
    now = time.monotonic()
    ends = now + seconds
    structures, planning = now + _STRUCTURES * seconds, now + _PLANNING * seconds
    return Patience(structures, planning, ends, ends + _FIGURES, trials)
