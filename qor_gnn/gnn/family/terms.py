"""Resource terms of many designs of a family, composed from those of their parts.

The white box adds up LUTs and flip-flops with the costs of terms; predictors fit these costs anew. So
the same sums are made here with costs that are left open: each is a `Form`, whose amounts are read
off at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from qor_gnn.area.control import FRAME
from qor_gnn.area.multiplexers import multiplexer
from qor_gnn.area.resources import Coefficients
from qor_gnn.batch.gather import Counts, distinct_rows
from qor_gnn.batch.logic import PartLogic
from qor_gnn.batch.sharing import Sharing
from qor_gnn.gnn.examples.terms import TERMS

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Form:
    """A sum whose costs are not known yet.

    Attributes:
        amounts: what was added up: the place of a term, -1 for what needs no coefficient, and how
            much of it. A term may be there several times.
    """

    amounts: tuple[tuple[int, float], ...]

    def __add__(self, other: Form | float) -> Form:
        if isinstance(other, Form):
            return Form(self.amounts + other.amounts)
        return Form((*self.amounts, (-1, other))) if other else self

    __radd__ = __add__

    def __sub__(self, other: Form | float) -> Form:
        return self + -1 * other

    def __mul__(self, count: float) -> Form:
        return Form(tuple((place, amount * count) for place, amount in self.amounts))

    __rmul__ = __mul__


def _unknowns(resource: str) -> dict[str, Form]:
    return {term.name: Form(((n, 1.0),)) for n, term in enumerate(TERMS[resource])}


# To the code that adds up resources a cost is what can be multiplied and added.
OPEN = Coefficients("", cast(Any, _unknowns("lut")), cast(Any, _unknowns("ff")), {})
"""Costs that are left open: with them `part_logic`, `whole_logic` and `together` give forms."""


def priced(logic: PartLogic, costs: Coefficients) -> PartLogic:
    """What `part_logic` and `whole_logic` give under costs, from what they give under `OPEN`."""
    prices = {
        "lut": np.array([*(costs.lut[term.name] for term in TERMS["lut"]), 1.0]),
        "ff": np.array([*(costs.ff[term.name] for term in TERMS["ff"]), 1.0]),
    }

    def sum_of(form: Form | float, resource: str) -> float:
        return float(_stacked([form], resource)[0] @ prices[resource])

    return replace(
        logic,
        lut=sum_of(logic.lut, "lut"),
        ff=sum_of(logic.ff, "ff"),
        alone=sum_of(logic.alone, "lut"),
    )


_PLACES = {name: {t.name: n for n, t in enumerate(terms)} for name, terms in TERMS.items()}
_SIZES = {name: len(terms) + 1 for name, terms in TERMS.items()}


class TermSharing(Sharing):
    """As `Sharing`, with the amounts of terms in the place of LUTs and flip-flops."""

    def __init__(self) -> None:
        super().__init__(OPEN)

    def amounts(
        self, parts: Sequence[Sequence[PartLogic]], rows: Sequence[Counts], waiting: Counts
    ) -> tuple[Floats, Floats]:
        """What n designs of several parts have of each term of LUT and FF, but for their units.

        Args:
            parts: the evaluations of each part, under `OPEN` costs.
            rows: for each part its evaluation in each design, (n,).
            waiting: (n,) states in front of all regions.

        Returns:
            Two arrays, (n, terms + 1) each: the last column needs no coefficient.
        """
        for position, own in enumerate(parts):
            self._read(position, own)
        n = len(waiting)
        found = {name: np.zeros((n, size)) for name, size in _SIZES.items()}
        for name, amounts in found.items():
            amounts[:, _PLACES[name]["one"]] = 1
        states = waiting + FRAME
        pipelines = np.zeros(n)
        straight = np.zeros(n)
        alone = np.zeros_like(found["lut"])
        for own, index in zip(parts, rows, strict=True):
            first, inverse = distinct_rows([index], n)
            used = [own[k] for k in index[first].tolist()]
            for name in found:
                found[name] += _stacked([getattr(p, name) for p in used], name)[inverse]
            states = states + np.array([p.states for p in used], np.int64)[inverse]
            pipelines += np.array([p.pipelines for p in used])[inverse]
            straight += np.array([p.straight for p in used])[inverse]
            mine = [p.alone if p.straight == 1 else 0.0 for p in used]
            alone += _stacked(mine, "lut")[inverse]
        lut, ff = found["lut"], found["ff"]
        lut[:, _PLACES["lut"]["fsm"]] += _multiplexers(states + 1)
        ff[:, _PLACES["ff"]["fsm"]] += states
        lut[:, _PLACES["lut"]["copies_pipelined"]] += np.maximum(0, pipelines - 1)
        lut += np.where(straight[:, None] == 1, alone, 0.0)
        for shared, columns in self.columns.items():
            positions = sorted(columns)
            numbers = [columns[p].array(self.read[p])[rows[p]] for p in positions]
            first, inverse = distinct_rows(numbers, n)
            costs: dict[str, list[float]] = {"lut": [], "ff": []}
            for row in zip(*(c[first].tolist() for c in numbers), strict=True):
                key = tuple((p, k) for p, k in zip(positions, row, strict=True) if k)
                both = self._sum(shared, columns, key) if key else (0.0, 0.0)
                costs["lut"].append(both[0])
                costs["ff"].append(both[1])
            for name, several in costs.items():
                if any(isinstance(one, Form) for one in several):
                    found[name] += _stacked(several, name)[inverse]
        return lut, ff


def single_amounts(parts: Sequence[PartLogic], index: Counts) -> tuple[Floats, Floats]:
    """The same of designs that are one part, units and all.

    Args:
        parts: from `qor_gnn.batch.logic.whole_logic` under `OPEN` costs.
        index: which of them each design is, (n,).
    """
    first, inverse = distinct_rows([index], len(index))
    used = [parts[k] for k in index[first].tolist()]
    return (
        _stacked([p.lut for p in used], "lut")[inverse],
        _stacked([p.ff for p in used], "ff")[inverse],
    )


def _stacked(sums: Sequence[Form | float], resource: str) -> Floats:
    """Amounts of sums, (n, terms + 1); a number is a sum of nothing but what needs no cost."""
    found = np.zeros((len(sums), _SIZES[resource]))
    for n, one in enumerate(sums):
        for place, amount in one.amounts if isinstance(one, Form) else ((-1, one),):
            found[n, place] += amount
    return found


def _multiplexers(inputs: Counts) -> Floats:
    values, inverse = np.unique(inputs, return_inverse=True)
    return np.array([float(multiplexer(n)) for n in values.tolist()])[inverse]
