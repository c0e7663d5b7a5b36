"""A design's figures after placement and routing, each with a 90% interval, from csynth's totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, exp, expm1, floor, log, log1p

from qor_gnn.routed.laws import BLOCKS, COUNTS, PERIOD, TIMES, Law, Laws, shipped

SURE_PCT = 90
"""How many in a hundred true figures the intervals are to hold."""
_LARGEST = 700.0  # whose power of e is still a number
_WORDS = {
    "ff_per_lut": "FF per LUT",
    "clock_ns": "ns of clock",
    "logic": "LUT and FF",
    PERIOD: "period ns",
}
_WHOLE = 100  # from which on decimals say nothing
_EXACT = 1e-6  # what a logarithm and back may add to a count


def digits(value: float) -> str:
    """A count, or a period with two decimals."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


@dataclass(frozen=True, slots=True)
class Totals:
    """What csynth, or a model of it, reports of a design.

    Attributes:
        counts: LUT, FF, DSP and BRAM18, by their names in `qor_gnn.routed.laws.COUNTS`; none is known of what is
            absent.
        clock_ns: the target period, or what csynth says that the design needs where that is longer.
        family: of the device (`backends.devices.Device.family`).
        delay_ns: of its fabric (`qor_gnn.routed.fabric.fabric_delay`); None where it is not known.
    """

    counts: Mapping[str, int]
    clock_ns: float
    family: str
    delay_ns: float | None


@dataclass(frozen=True, slots=True)
class Figure:
    """What is expected, and the ends of the 90% interval: counts, or ns."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """``408 [160 .. 1,050]``; periods with their decimals."""
        value, low, high = map(digits, (self.value, self.low, self.high))
        return f"{value} [{low} .. {high}]"


@dataclass(frozen=True, slots=True)
class Routed:
    """A design after placement and routing.

    Attributes:
        figures: by name in `qor_gnn.routed.laws.QUANTITIES`, as far as csynth's totals are known.
        extrapolated: in which ways it is outside of the designs that the laws were fitted to, for people; the
            intervals are wider for it.
    """

    figures: Mapping[str, Figure]
    extrapolated: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A line for people: each figure with its interval."""
        parts = (f"{_WORDS.get(name, name.upper())} {f}" for name, f in self.figures.items())
        marks = [f"; extrapolated: {', '.join(self.extrapolated)}"] if self.extrapolated else []
        return "".join([f"routed (90% interval)  {', '.join(parts)}", *marks])

    @property
    def upper(self) -> dict[str, int]:
        """The upper ends of the counts."""
        return {name: int(f.high) for name, f in self.figures.items() if name in COUNTS}


def routed(totals: Totals, laws: Laws | None = None) -> Routed:
    """What placement and routing are expected to make of a design.

    Args:
        totals: what csynth reports of it.
        laws: that answer; None for those that come with Weft.

    Raises:
        ToolError: W453, the table of the laws is not as it should be.
    """
    laws = shipped() if laws is None else laws
    terms = terms_of(totals)
    figures: dict[str, Figure] = {}
    outside: dict[str, None] = {}
    unseen = totals.family not in laws.families
    for name, law in laws.laws.items():
        if not (law.weights.keys() | {law.size}) <= terms.keys():
            continue
        if name in BLOCKS and not totals.counts[name]:
            figures[name] = Figure(0, 0, 0)
            continue
        away = 0.0
        for text, distance in _outside(law, terms):
            outside[text] = None
            away += distance
        half = half_width(law, totals.counts[law.size]) * (law.unseen if unseen else 1.0)
        figures[name] = _figure(name, centre(law, terms), half + law.drift * away)
    if unseen:
        outside[f"no design of {totals.family}"] = None
    return Routed(figures, tuple(outside))


def terms_of(totals: Totals) -> dict[str, float]:
    """The terms of `qor_gnn.routed.laws.TERMS` that are known, and ``ff_per_lut``."""
    found: dict[str, float] = {**totals.counts, "clock_ns": totals.clock_ns}
    if totals.delay_ns is not None:
        found["delay_ns"] = totals.delay_ns
    if "lut" in found and "ff" in found:
        found["logic"] = found["lut"] + found["ff"]
        found["ff_per_lut"] = found["ff"] / max(1.0, found["lut"])
    return found


def logarithm(term: str, value: float) -> float:
    """Of a term as laws take it: of a count of one more than it."""
    return log(value) if term in TIMES else log1p(value)


def centre(law: Law, terms: Mapping[str, float]) -> float:
    """The logarithm of what a law expects."""
    parts = (weight * logarithm(term, terms[term]) for term, weight in law.weights.items())
    return law.constant + sum(parts)


def half_width(law: Law, size: float) -> float:
    """Half of the width of a design's interval, in logarithms."""
    return law.spread * growth(law.steady, size)


def growth(steady: int, size: float) -> float:
    """How many times wider the interval of a design of this size is than that of a large one.

    A few LUTs more or less of control and interface are nothing in a large design and a multiple of a small one.
    """
    return 1 + log1p(steady / (1 + size))


def _outside(law: Law, terms: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Where a design is outside of the pairs of a law, and by how many e-folds."""
    for name, (least, most) in law.ranges.items():
        value = terms[name]
        if value > most or value < least:
            end = max(most, 1e-9) if value > most else least
            distance = abs(log(max(value, 1e-9) / end))
            ends = f"{_rounded(least)} to {_rounded(most)}"
            yield (
                f"{_rounded(value)} {_WORDS.get(name, name.upper())} where pairs have {ends}",
                distance,
            )


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= _WHOLE else f"{value:.3g}"


def _figure(name: str, log_value: float, half: float) -> Figure:
    ends = [min(x, _LARGEST) for x in (log_value, log_value - half, log_value + half)]
    if name == PERIOD:
        return Figure(*(round(exp(x), 3) for x in ends))
    value, low, high = (max(0.0, expm1(x)) for x in ends)
    return Figure(round(value), floor(low + _EXACT), ceil(high - _EXACT))
