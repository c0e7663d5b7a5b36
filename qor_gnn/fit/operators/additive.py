"""Delays over classes: the logarithm of a delay is a term of what it is of plus one of the class.

What a class shows of a core corrects the sum there: figures of a class are interpolated between its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Known = Mapping[tuple[str, str, int], float]
"""Delays in ns by class, what it is of, and position: a latency, or a width."""

_PRIOR = 0.05  # weight of "a class is as fast as the reference" against one delay
_TAIL = 0.8  # power of the position with which delays fall behind the deepest that is known
_HEAD = 1.5  # and, at least, with which they rise before the shallowest


@dataclass(frozen=True, slots=True)
class Additive:
    """The fitted model; see `fitted`."""

    known: Known
    of: Mapping[tuple[str, int], float]
    speed: Mapping[str, float]
    falling: bool

    def delay(self, timing: str, what: str, position: int) -> float | None:
        """A delay in ns; None where nothing is known of ``what``."""
        exact = self.known.get((timing, what, position))
        if exact is not None:
            return exact
        common = {p: v for (w, p), v in self.of.items() if w == what}
        if not common:
            return None
        own = {
            p: math.log(d) - common[p] - self.speed.get(timing, 0.0)
            for (t, w, p), d in self.known.items()
            if (t, w) == (timing, what)
        }
        tail = _TAIL if self.falling else 0.0
        base = _between(common, position, tail)
        return math.exp(
            base + self.speed.get(timing, 0.0) + (_between(own, position) if own else 0.0)
        )

    def shown(self, timing: str, what: str) -> bool:
        """The class shows some delay of ``what``."""
        return any((t, w) == (timing, what) for t, w, _ in self.known)


def _between(points: Mapping[int, float], position: int, tail: float = 0.0) -> float:
    """Interpolated in the logarithm of the position; constant, or falling, outside."""
    places = sorted(points)
    x = math.log(position + 1)
    xs, ys = [math.log(p + 1) for p in places], [points[p] for p in places]
    found = float(np.interp(x, xs, ys))
    if tail and x < xs[0]:
        steep = (ys[0] - ys[1]) / (xs[1] - xs[0]) if len(xs) > 1 else 0.0
        return found + max(_HEAD, steep) * (xs[0] - x)
    return found - tail * max(0.0, x - xs[-1])


def fitted(known: Known, *, falling: bool) -> Additive:
    """Fit the terms by least squares.

    Args:
        known: delays.
        falling: they fall with the position (stages of a pipeline); else they are level outside.
    """
    classes = sorted({t for t, _, _ in known})
    terms = sorted({(w, p) for _, w, p in known})
    columns = {name: n for n, name in enumerate([*terms, *classes])}
    rows, values = [], []
    for (timing, what, position), delay in known.items():
        row = np.zeros(len(columns))
        row[columns[what, position]] = row[columns[timing]] = 1
        rows.append(row)
        values.append(math.log(delay))
    for timing in classes:
        row = np.zeros(len(columns))
        row[columns[timing]] = _PRIOR
        rows.append(row)
        values.append(0.0)
    if not rows:
        return Additive({}, {}, {}, falling)
    found = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]
    return Additive(
        dict(known),
        {term: float(found[columns[term]]) for term in terms},
        {timing: float(found[columns[timing]]) for timing in classes},
        falling,
    )
