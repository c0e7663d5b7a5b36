"""The fitted laws from the totals of csynth to those after placement and routing (``routed.json``).

Each is a straight line in logarithms with weights of 0 or more, so that a larger design is never predicted to
be smaller. `qor_gnn.fit.routed` writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from backends.tables import described, fault, parsed

FILE = Path(__file__).parent.parent / "tools" / "routed.json"
COUNTS = ("lut", "ff", "dsp", "bram18")
BLOCKS = ("dsp", "bram18")
"""Counts that are none after routing where csynth has none: no pair of the fit says otherwise."""
PERIOD = "period_ns"
QUANTITIES = (*COUNTS, PERIOD)
TIMES = ("clock_ns", "delay_ns")
TERMS = (*COUNTS, "logic", *TIMES)
"""What a law is a line in: csynth's counts, LUT and FF together, the clock period and the delay of the fabric in ns."""


@dataclass(frozen=True, slots=True)
class Law:
    """One quantity after routing: log y = constant + sum of weight times log of a term.

    Of counts it is the logarithm of one more than the count, so that none is allowed.

    Attributes:
        constant: the logarithm where all terms are 1.
        weights: by name in `TERMS`; 0 or more.
        spread: half of the width, in logarithms, of the 90% interval of a large design.
        steady: how many of ``size`` make a design large: half of the width is
            spread * (1 + log(1 + steady / (1 + size))).
        size: the csynth count that decides on that, one of `COUNTS`.
        unseen: times the width in families of which no pair is.
        drift: what is added to half of the width for each e-fold that a design is outside of ``ranges``.
        ranges: least and most, in the pairs, of what the law goes by: terms, and ``ff_per_lut``.
    """

    constant: float
    weights: Mapping[str, float]
    spread: float
    steady: int
    size: str
    unseen: float
    drift: float
    ranges: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Laws:
    """The laws by name in `QUANTITIES`, and what they were fitted to.

    Attributes:
        designs: how many have both reports, of so many ``projects``.
        families: of the devices that these are for.
    """

    designs: int
    projects: int
    families: tuple[str, ...]
    laws: Mapping[str, Law]


@cache
def shipped() -> Laws:
    """The laws that come with Weft.

    Raises:
        ToolError: W453, the table is not as it should be.
    """
    return laws_in(FILE)


def laws_in(file: Path) -> Laws:
    """The laws of a file.

    Raises:
        ToolError: W453, as `shipped`.
    """
    data, where = described(file, {"designs", "projects", "families", "laws"})
    found = parsed(Laws, data, where)
    for name in QUANTITIES:
        if name not in found.laws:
            raise fault(f"{where}.laws", f"lacks '{name}'")
    for name, law in found.laws.items():
        _check(law, f"{where}.laws.{name}")
    return found


def _check(law: Law, where: str) -> None:
    """A law whose figures a prediction can go by."""
    for term, weight in law.weights.items():
        if term not in TERMS or weight < 0:
            raise fault(where, f"has a weight of {weight:g} for '{term}'")
    if law.size not in COUNTS:
        raise fault(where, f"has the size '{law.size}'")
    if law.spread < 0 or law.unseen < 1 or law.drift < 0:
        raise fault(where, "has an interval that is no interval")
