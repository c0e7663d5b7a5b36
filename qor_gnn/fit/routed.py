"""Fits what placement and routing make of csynth's totals (``routed.json``), for `qor_gnn.routed`.

    python -m qor_gnn.fit.routed DATA

``DATA`` holds the folders ``routed-pairs`` and ``prometheus-u55c``: totals of public designs before and after. A
project counts once, however many designs of it there are. Laws are fitted by least absolute errors of logarithms,
with weights of 0 or more. Intervals are conformal over projects: the residuals are those of designs whose project was
left out of the fit, and of N projects the interval has to hold 0.9 (N + 1).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import log, log1p
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from qor_gnn.fit.labelled.routed_pairs import Pair, pairs
from qor_gnn.routed.laws import BLOCKS, COUNTS, FILE, PERIOD, QUANTITIES, Law, Laws
from qor_gnn.routed.predict import SURE_PCT, Figure, centre, growth, logarithm, routed, terms_of

Floats = NDArray[np.float64]

_STEADY = {"lut": 1000, "ff": 1000, "dsp": 10, "bram18": 10, PERIOD: 1000}
"""Sizes from which on an interval hardly depends on the size; of 30 to 1,000 (LUT, FF, period) and 5 to 30 (BRAM18)
those whose intervals are narrow where projects are left out."""
_SIZE = {**{name: name for name in COUNTS}, PERIOD: "lut"}
_SURE_OF_DRIFT = 1.645  # standard errors of a slope
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Scored:
    """A design whose project the laws were fitted without: csynth's figure, the true one, and what was said."""

    pair: Pair
    csynth: float
    true: float
    said: Figure

    @property
    def inside(self) -> bool:
        """The interval holds the true figure."""
        return self.said.low <= self.true <= self.said.high

    @property
    def error(self) -> float:
        """Relative to the true figure, or to 1 of a count of none."""
        return abs(self.said.value - self.true) / max(self.true, 1.0)


def fitted(designs: Sequence[Pair]) -> Laws:
    """The laws of some designs, with their intervals."""
    return _laws(designs, QUANTITIES)


def scored(name: str, designs: Sequence[Pair]) -> list[Scored]:
    """What is said of each design by laws that were fitted, intervals included, without its project."""
    found = []
    for project in sorted({pair.project for pair in designs}):
        rest = [pair for pair in designs if pair.project != project]
        laws = _laws(rest, (name,))
        for pair in designs:
            if pair.project == project and name in pair.routed and (pair.same or name == "dsp"):
                said = routed(pair.totals, laws).figures[name]
                found.append(Scored(pair, _csynth(name, pair), pair.routed[name], said))
    return found


def _laws(designs: Sequence[Pair], names: Sequence[str]) -> Laws:
    same = [pair for pair in designs if pair.same]
    projects = {pair.project for pair in same}
    families = sorted({pair.totals.family for pair in same})
    laws = {name: _law(name, of(name, designs)) for name in names}
    return Laws(len(same), len(projects), tuple(families), laws)


def of(name: str, designs: Iterable[Pair]) -> list[Pair]:
    """The designs that a law is fitted to: with the figure in both reports, and for block RAM and DSP slices any."""
    return [
        pair
        for pair in designs
        if name in pair.routed
        and (pair.same or name == "dsp")
        and (name not in BLOCKS or pair.totals.counts[name])
    ]


def weights_of(designs: Sequence[Pair]) -> Floats:
    """Of each design: those of a project have 1 together."""
    counts = Counter(pair.project for pair in designs)
    return np.array([1 / counts[pair.project] for pair in designs])


def _csynth(name: str, pair: Pair) -> float:
    return pair.totals.clock_ns if name == PERIOD else pair.totals.counts[name]


# ------------------------------------------------------------------------------------------- fits


def _line(name: str, designs: Sequence[Pair]) -> tuple[float, dict[str, float]]:
    """The constant and the weights of a law.

    LUT and FF: the figure itself and LUT and FF together, whose weights add up to 1, so that what becomes of a design does
    not depend on its size. csynth counts each operation of an expression with LUTs of its own, which synthesis packs,
    up to the next register: so logic that has registers shrinks less. The period: that of the target and the delay
    of the fabric, weights again 1 together, and LUT, for what is larger is routed farther. DSP slices and block RAM:
    as csynth says.
    """
    if name in BLOCKS:
        return 0.0, {name: 1.0}
    true = _true(name, designs)
    if name == PERIOD:
        clock, delay = _term("clock_ns", designs), _term("delay_ns", designs)
        constant, share, size = _least(
            np.column_stack([np.ones(len(true)), clock - delay, _term("lut", designs)]), true - delay,
            weights_of(designs), [(None, None), (0, 1), (0, None)],
        )  # fmt: skip
        return constant, {"clock_ns": share, "delay_ns": 1 - share, "lut": size}
    own, logic = _term(name, designs), _term("logic", designs)
    constant, share = _least(
        np.column_stack([np.ones(len(true)), logic - own]), true - own, weights_of(designs),
        [(None, None), (0, 1)],
    )  # fmt: skip
    return constant, {name: 1 - share, "logic": share}


def _least(
    columns: Floats,
    wanted: Floats,
    weights: Floats,
    bounds: list[tuple[float | None, float | None]],
) -> list[float]:
    """Coefficients with the least sum of weighted absolute errors, as a linear program."""
    rows, n = columns.shape
    costs = np.concatenate([np.zeros(n), weights, weights])
    equal = np.hstack([columns, np.eye(rows), -np.eye(rows)])
    found = linprog(costs, A_eq=equal, b_eq=wanted, bounds=[*bounds, *[(0, None)] * (2 * rows)])
    return [float(x) for x in found.x[:n]]


def _law(name: str, designs: Sequence[Pair]) -> Law:
    constant, weights = _line(name, designs)
    weights = {term: round(w, _DIGITS) for term, w in weights.items() if round(w, _DIGITS) > 0}
    law = Law(
        round(constant, _DIGITS), weights, 0.0, _STEADY[name], _SIZE[name], 1.0, 0.0,
        _ranges(weights, designs),
    )  # fmt: skip
    residuals = _left_out(name, law, designs, lambda pair: pair.project)
    spread = _sure(residuals, designs, law)
    families = _left_out(name, law, designs, lambda pair: pair.totals.family)
    unseen = max(1.0, _sure(families, designs, law) / spread) if spread else 1.0
    drift = _drift(residuals, _term(law.size, designs), designs)
    return replace(
        law, spread=round(spread, _DIGITS), unseen=round(unseen, _DIGITS), drift=round(drift, _DIGITS)
    )  # fmt: skip


def _left_out(name: str, law: Law, designs: Sequence[Pair], group: Callable[[Pair], str]) -> Floats:
    """Logarithms of true over expected figures, where the law was fitted without the group of the design."""
    expected = np.zeros(len(designs))
    groups = [group(pair) for pair in designs]
    for one in sorted(set(groups)):
        rest = [pair for pair, its in zip(designs, groups, strict=True) if its != one]
        constant, weights = _line(name, rest)
        other = replace(law, constant=constant, weights=weights)
        for n, pair in enumerate(designs):
            if groups[n] == one:
                expected[n] = centre(other, terms_of(pair.totals))
    return _true(name, designs) - expected


def _sure(residuals: Floats, designs: Sequence[Pair], law: Law) -> float:
    """The spread whose intervals hold 0.9 (N + 1) of N projects."""
    grown = [growth(law.steady, pair.totals.counts[law.size]) for pair in designs]
    wide = np.abs(residuals) / np.array(grown)
    order = np.argsort(wide, kind="stable")
    share = np.cumsum(weights_of(designs)[order])
    place = int(np.searchsorted(share, SURE_PCT / 100 * (share[-1] + 1) - 1e-9))
    return float(wide[order][min(place, len(wide) - 1)])


def _drift(residuals: Floats, sizes: Floats, designs: Sequence[Pair]) -> float:
    """The largest slope of the residuals over the logarithm of the size that projects leave room for."""
    weights = weights_of(designs)
    projects = sorted({pair.project for pair in designs})
    at = [np.array([pair.project == project for pair in designs]) for project in projects]
    x, y = (
        np.array([np.average(v[m], weights=weights[m]) for m in at]) for v in (sizes, residuals)
    )
    away = x - x.mean()
    slope = float(away @ (y - y.mean()) / (away @ away))
    rest = y - y.mean() - slope * away
    error = float(np.sqrt(rest @ rest / (len(y) - 2) / (away @ away)))
    return abs(slope) + _SURE_OF_DRIFT * error


def _true(name: str, designs: Sequence[Pair]) -> Floats:
    take = log if name == PERIOD else log1p
    return np.array([take(pair.routed[name]) for pair in designs])


def _term(term: str, designs: Sequence[Pair]) -> Floats:
    return np.array([logarithm(term, terms_of(pair.totals)[term]) for pair in designs])


def _ranges(
    weights: Mapping[str, float], designs: Sequence[Pair]
) -> dict[str, tuple[float, float]]:
    """What the designs have of the terms that count."""
    names = [term for term in weights if term != "delay_ns"]  # families tell of that
    names += ["ff_per_lut"] if "logic" in weights else []
    every = [terms_of(pair.totals) for pair in designs]
    return {
        name: (round(min(t[name] for t in every), 3), round(max(t[name] for t in every), 3))
        for name in names
    }


# ------------------------------------------------------------------------------------------- file


def document(designs: Sequence[Pair]) -> dict[str, object]:
    """The file."""
    found = fitted(designs)
    marked = sum(not pair.same for pair in designs)
    evidence = (
        f"routed-pairs (rows with same_design_likely = yes) and the kernels of prometheus-u55c: {found.designs} designs of "
        f"{found.projects} public projects, csynth beside the implementation report; achieved periods of "
        f"{len(of(PERIOD, designs))}; DSP slices also of {marked} designs marked otherwise for them. Written by python -m "
        "qor_gnn.fit.routed"
    )
    return {"evidence": evidence, **asdict(found)}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the labelled designs")
    text = json.dumps(document(pairs(parser.parse_args().data)), indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
