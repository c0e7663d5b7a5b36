"""How much candidates are expected to improve on a front, and the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dse.strategies.estimates import Figures

_LEAST = 1e-3  # cycles: anything that takes fewer is as good as nothing

Floats = NDArray[np.float64]


def gains_over(front: Sequence[Figures], cycles: Floats, dsp: Floats) -> Floats:
    """For each candidate the logarithm of how much faster it is than the front at its DSP."""
    ordered = sorted(front, key=lambda f: f.dsp)
    at = np.searchsorted(np.array([f.dsp for f in ordered]), dsp + 0.5, side="right") - 1
    there = np.array([f.cycles for f in ordered] or [np.inf])[np.maximum(at, 0)]
    there = np.where(at >= 0, there, np.inf)
    # What does nothing takes no cycles, which has no logarithm.
    cycles, there = np.maximum(cycles, _LEAST), np.maximum(there, _LEAST)
    # Below all of the front the fastest counts most.
    return np.where(np.isinf(there), 1e3 - np.log(cycles), np.log(there) - np.log(cycles))


def promising(gains: Floats, cycles: Floats, slack: float, first: bool) -> Iterator[int]:
    """Candidates in the order in which they are tried; ``first`` leads with the fastest of those that improve on the
    front: most want that.
    """
    if first:
        improving = np.flatnonzero(gains > 0)
        yield from map(int, improving[np.argsort(cycles[improving], kind="stable")])
    least = slack if slack < 1e-6 else -slack
    others = np.flatnonzero((gains > least) & ~((gains > 0) & first))
    yield from map(int, others[np.argsort(-gains[others], kind="stable")])
