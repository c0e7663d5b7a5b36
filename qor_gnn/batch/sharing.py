"""LUTs and flip-flops of many designs, from those of their parts.

Each distinct combination of what the parts have of a shared thing is added up once; few parts have
anything of one thing, and few factors change how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qor_gnn.area.control import FRAME
from qor_gnn.area.multiplexers import multiplexer
from qor_gnn.area.resources import DIGITS, Coefficients
from qor_gnn.batch.gather import Counts, distinct_rows
from qor_gnn.batch.logic import Amounts, PartLogic, Shared, together

Floats = NDArray[np.float64]


@dataclass(slots=True)
class _Column:
    """What the evaluations of one part have of one thing, as numbers of distinct amounts.

    Number 0 is nothing of it.
    """

    numbers: dict[Amounts, int] = field(default_factory=dict)
    amounts: list[Amounts] = field(default_factory=lambda: [frozenset()])
    of_part: list[int] = field(default_factory=list)

    def extend(self, part: int, amounts: Amounts) -> None:
        """Note what a part has; parts come in their order."""
        self.of_part += [0] * (part - len(self.of_part))
        number = self.numbers.get(amounts)
        if number is None:
            number = self.numbers[amounts] = len(self.amounts)
            self.amounts.append(amounts)
        self.of_part.append(number)

    def array(self, parts: int) -> Counts:
        """The numbers of so many parts."""
        return np.array(self.of_part + [0] * (parts - len(self.of_part)), np.int64)


@dataclass(slots=True)
class Sharing:
    """What parts share, and what was added up of it so far.

    Attributes:
        costs: of the terms.
        columns: by shared thing and position of a part in the design.
        sums: by shared thing, of the numbers that its columns have: LUTs and flip-flops.
        read: parts in the columns, by position.
    """

    costs: Coefficients
    columns: dict[Shared, dict[int, _Column]] = field(default_factory=dict)
    sums: dict[tuple[Shared, tuple[tuple[int, int], ...]], tuple[float, float]] = field(
        default_factory=dict
    )
    read: dict[int, int] = field(default_factory=dict)

    def add(
        self,
        parts: Sequence[Sequence[PartLogic]],
        rows: Sequence[Counts],
        waiting: Counts,
        lut: Floats,
        ff: Floats,
    ) -> None:
        """Add the LUTs and flip-flops of n designs of several parts, but those of units.

        Args:
            parts: the evaluations of each part.
            rows: for each part its evaluation in each design, (n,).
            waiting: (n,) states in front of all regions.
            lut: (n,), added to.
            ff: (n,), added to.
        """
        for position, own in enumerate(parts):
            self._read(position, own)
        states = waiting + FRAME
        lut += self.costs.lut["one"]
        ff += self.costs.ff["one"]
        pipelines, straight = np.zeros(len(waiting), np.int64), np.zeros(len(waiting), np.int64)
        alone = np.zeros(len(waiting))
        for own, index in zip(parts, rows, strict=True):
            lut += np.array([p.lut for p in own])[index]
            ff += np.array([p.ff for p in own])[index]
            states += np.array([p.states for p in own])[index]
            pipelines += np.array([p.pipelines for p in own])[index]
            straight += np.array([p.straight for p in own])[index]
            alone += np.array([p.alone if p.straight == 1 else 0.0 for p in own])[index]
        lut += self.costs.lut["fsm"] * _multiplexers(states + 1)
        ff += self.costs.ff["fsm"] * states
        lut += self.costs.lut["copies_pipelined"] * np.maximum(0, pipelines - 1)
        lut += np.where(straight == 1, alone, 0.0)
        for shared, columns in self.columns.items():
            self._add(shared, columns, rows, lut, ff)

    def _read(self, position: int, parts: Sequence[PartLogic]) -> None:
        for n in range(self.read.get(position, 0), len(parts)):
            for shared, amounts in parts[n].shared:
                columns = self.columns.setdefault(shared, {})
                columns.setdefault(position, _Column()).extend(n, amounts)
        self.read[position] = len(parts)

    def _add(
        self,
        shared: Shared,
        columns: dict[int, _Column],
        rows: Sequence[Counts],
        lut: Floats,
        ff: Floats,
    ) -> None:
        """Add what one thing costs each design."""
        positions = sorted(columns)
        numbers = [columns[p].array(self.read[p])[rows[p]] for p in positions]
        first, inverse = distinct_rows(numbers, len(lut))
        costs = np.zeros((len(first), 2))
        for n, row in enumerate(zip(*(c[first].tolist() for c in numbers), strict=True)):
            key = tuple((p, number) for p, number in zip(positions, row, strict=True) if number)
            if key:
                costs[n] = self._sum(shared, columns, key)
        if costs[:, 0].any():
            lut += costs[inverse, 0]
        if costs[:, 1].any():
            ff += costs[inverse, 1]

    def _sum(
        self, shared: Shared, columns: dict[int, _Column], key: tuple[tuple[int, int], ...]
    ) -> tuple[float, float]:
        found = self.sums.get((shared, key))
        if found is None:
            had = [columns[p].amounts[number] for p, number in key]
            found = self.sums[shared, key] = together(shared, had, self.costs)
        return found


def whole(amounts: Floats) -> Counts:
    """As `qor_gnn.area.resources` rounds a total."""
    return np.rint(np.round(amounts, DIGITS)).astype(np.int64)


def _multiplexers(inputs: Counts) -> Floats:
    known = np.array([multiplexer(n) for n in range(int(inputs.max(initial=0)) + 1)])
    return known[inputs]
