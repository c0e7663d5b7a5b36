"""How long a search may take, where somebody has said so."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf

_PLANNING = 0.5
"""Of the time, for planning all structures at once: what is found is evaluated in the rest."""


@dataclass(frozen=True, slots=True)
class Patience:
    """When a search has to come to its end, by `time.monotonic`.

    Attributes:
        planning: until when structures are planned that no design is known of.
        ends: until when trials begin.
    """

    planning: float = inf
    ends: float = inf

    @property
    def is_over(self) -> bool:
        """No further trial begins, if there is a design."""
        return time.monotonic() >= self.ends

    @property
    def is_planned(self) -> bool:
        """What has been planned will do."""
        return time.monotonic() >= self.planning


ENDLESS = Patience()


def patience_of(seconds: float | None) -> Patience:
    """One of so many seconds from now on; None for any number."""
    if seconds is None:
        return ENDLESS
    now = time.monotonic()
    return Patience(now + _PLANNING * seconds, now + seconds)
