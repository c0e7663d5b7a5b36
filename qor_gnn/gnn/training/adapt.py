"""A predictor brought to few labels of a kernel or of a tool: a Gaussian process on what it missed.

What the predictor misses in one kernel has few causes: a term of the resources that costs more there,
a directive that the tool takes otherwise. So two designs miss alike as their terms are alike, and,
of one kernel, as their loops and memories are (Rasmussen and Williams, Gaussian Processes for Machine
Learning, 2006). How much of each there is comes from the labels, by the marginal likelihood; how wide
intervals are from each label's error when it is left out (ibid., 5.12).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from qor_gnn.gnn.examples.example import METRICS, Z90, Example, Floats
from qor_gnn.gnn.examples.targets import SUMMED
from qor_gnn.gnn.graph.schema import FEATURES, NodeType

MOST_SHOTS = 768
"""Labels of a tool that are kept; more than that are better trained with."""

LEAST_SHOTS = 2
"""Labels of a metric that anything is learned from: how alike two miss is what is learned."""

_TUNED_ON = 160  # labels that the amounts are chosen by
_COLUMNS = {
    NodeType.LOOP: [
        FEATURES[NodeType.LOOP].index(c)
        for c in ("pipelined", "ii", "depth", "trips", "unroll", "multiplicity", "flattened")
    ],
    NodeType.MEMORY: [FEATURES[NodeType.MEMORY].index(c) for c in ("banks", "bank_words")],
}
_OF_TOOL = 0.5  # of what is missed where the tool is new; the rest is of the kernel
_LEAST = 0.7  # of what labels that are left out say: they may be alike by chance
_EXACT = 1e-6  # a metric that is missed by less everywhere is left as it is


def place(example: Example) -> Floats:
    """Where a design is among those of its kernel: its loops and memories, shape (any,)."""
    graph = example.graph
    parts = [graph.nodes[kind][:, columns].ravel() for kind, columns in _COLUMNS.items()]
    return np.concatenate(parts).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Shots:
    """Labelled designs of one tool, as far as a correction depends on them.

    Attributes:
        structure: of each the digest of its kernel's structure.
        places: of each, see `place`.
        shares: of LUT and FF by term, shape (n, 2, terms).
        missed: logarithms of label over prediction, NaN without a label, shape (n, metrics).
    """

    structure: tuple[str, ...]
    places: tuple[Floats, ...]
    shares: Floats
    missed: Floats

    def __len__(self) -> int:
        return len(self.structure)


@dataclass(frozen=True, slots=True)
class _Amounts:
    """How much of what is missed is of which kind: standard deviations, and a length."""

    whole: float
    terms: float
    near: float
    length: float
    noise: float


_GRID = tuple(
    _Amounts(*values)
    for values in itertools.product(
        (0.02, 0.1, 0.4),
        (0.0, 0.1, 0.3, 1.0),
        (0.01, 0.04, 0.15),
        (1.0, 3.0, 8.0),
        (0.002, 0.008, 0.03),
    )
)


@dataclass(frozen=True, slots=True)
class _Fit:
    """The process of one metric: weights of the labels, and what variances need."""

    amounts: _Amounts
    rows: npt.NDArray[np.int64]
    weights: Floats
    inverse: Floats
    stretch: float

    def left_out(self) -> Floats:
        """Of each label what is missed when it is left out, shape (n,)."""
        return self.weights / np.diag(self.inverse)


@dataclass(slots=True)
class Adapter:
    """What some labels of a tool teach about its other designs. ``fits`` are computed when asked.

    Attributes:
        shots: the labels.
        known: the networks learned from the tool: what they miss is then of the labels' kernels,
            and nothing is said of others.
    """

    shots: Shots
    known: bool
    _fits: dict[int, _Fit | None] = field(default_factory=dict)

    def corrected(self, asked: Shots, metric: int) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """What to add to logarithms of predictions.

        Args:
            asked: designs; what they missed is not looked at.
            metric: position in `METRICS`.

        Returns:
            The correction, its standard deviation, and whether that one counts (the kernel is
            among the labelled ones), each of shape (n,).
        """
        fit = self._fit(metric)
        if fit is None:
            nothing = np.zeros(len(asked))
            return nothing, nothing, np.zeros(len(asked), bool)
        labelled = _part(self.shots, fit.rows)
        cross = _pieces(asked, labelled, metric, self.known).covariance(fit.amounts)
        mean = cross @ fit.weights
        own = _own(asked, fit.amounts, metric)
        left = own - np.einsum("ij,jk,ik->i", cross, fit.inverse, cross)
        spread = fit.stretch * np.sqrt(np.maximum(left, 0.0) + fit.amounts.noise**2)
        known = set(self.shots.structure)
        return mean, spread, np.array([s in known for s in asked.structure], bool)

    def errors(self, metric: int) -> tuple[Floats, Floats]:
        """How far predictions were off the labels of a metric, and how far they are off each label
        when it is left out: shares of it (of ``1 +`` it, as counts may be 0), each of shape (n,).
        """
        missed = self.shots.missed[:, metric]
        before = np.abs(np.expm1(-missed[np.isfinite(missed)]))
        fit = self._fit(metric)
        if fit is None:
            return before, before
        return before, np.abs(np.expm1(-fit.left_out()))

    def _fit(self, metric: int) -> _Fit | None:
        if metric not in self._fits:
            self._fits[metric] = _fitted(self.shots, metric, self.known)
        return self._fits[metric]


def worth(adapter: Adapter) -> list[dict[str, Any]]:
    """What the labels of a tool are worth: for each metric with some their number, the mean error
    before in percent, and that of each label when it is left out.
    """
    rows = []
    for n, metric in enumerate(METRICS):
        before, after = adapter.errors(n)
        if len(before):
            percent = {"before_error_pct": before, "error_pct": after}
            means = {name: round(100 * float(off.mean()), 3) for name, off in percent.items()}
            rows.append({"metric": metric, "designs": len(before), **means})
    return rows


def _fitted(shots: Shots, metric: int, known: bool) -> _Fit | None:
    """The process of a metric; None where nothing is known or missed."""
    rows = np.flatnonzero(np.isfinite(shots.missed[:, metric]))
    missed = shots.missed[rows, metric]
    if len(rows) < LEAST_SHOTS or np.abs(missed).max() < _EXACT:
        return None
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), _TUNED_ON)).astype(np.int64)]
    tuned = _pieces(_part(shots, some), _part(shots, some), metric, known)
    wanted = shots.missed[some, metric]
    best = max(_GRID, key=lambda amounts: _likelihood(tuned, wanted, amounts))
    labelled = _part(shots, rows)
    matrix = _pieces(labelled, labelled, metric, known).covariance(best, noise=True)
    inverse = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    weights = inverse @ missed
    # Leaving label i out: its error is weights_i / inverse_ii, its variance 1 / inverse_ii.
    alone = np.abs(weights) / np.sqrt(np.diag(inverse))
    # Of few labels nearly the largest, so that the next one is inside nine times out of ten.
    level = min(1.0, 0.9 * (len(rows) + 1) / len(rows))
    stretch = float(np.quantile(alone, level)) / Z90
    return _Fit(best, rows, weights, inverse, max(_LEAST, stretch))


def _likelihood(pieces: _Pieces, missed: Floats, amounts: _Amounts) -> float:
    """The logarithm of the labels' likelihood, up to a constant."""
    matrix = pieces.covariance(amounts, noise=True)
    factor = np.linalg.cholesky(matrix)
    solved = np.linalg.solve(matrix, missed)
    return float(-0.5 * missed @ solved - np.log(np.diag(factor)).sum())


def _part(shots: Shots, rows: npt.NDArray[np.int64]) -> Shots:
    numbers = rows.tolist()
    return Shots(
        tuple(shots.structure[n] for n in numbers),
        tuple(shots.places[n] for n in numbers),
        shots.shares[rows],
        shots.missed[rows],
    )


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Of pairs of designs: what they have in common (1 in one kernel, less in two), how alike their
    terms are, and how far apart they are in it (infinitely in another one), each of shape (n, m).
    """

    common: Floats
    terms: Floats
    far: Floats

    def covariance(self, amounts: _Amounts, *, noise: bool = False) -> Floats:
        """Of pairs of designs, shape (n, m)."""
        found = amounts.whole**2 + amounts.terms**2 * self.terms
        found *= self.common
        # Not smooth (Matérn, 1/2): a directive more or less is a step.
        found += amounts.near**2 * np.exp(-np.sqrt(self.far) / amounts.length)
        if noise:
            found[np.diag_indices(len(found))] += amounts.noise**2
        return found


def _pieces(a: Shots, b: Shots, metric: int, known: bool) -> _Pieces:
    number = {name: n for n, name in enumerate(dict.fromkeys(a.structure + b.structure))}
    rows = np.array([number[s] for s in a.structure])
    columns = np.array([number[s] for s in b.structure])
    same = rows[:, None] == columns
    common = np.where(same, 1.0, 0.0 if known else _OF_TOOL)
    far = np.full(same.shape, np.inf)
    for at, to in _blocks(a, b):
        first = np.stack([a.places[i] for i in at])
        second = np.stack([b.places[j] for j in to])
        squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1)
        far[np.ix_(at, to)] = np.maximum(squares - 2 * first @ second.T, 0.0)
    resource = _resource(metric)
    if resource is None:
        return _Pieces(common, np.zeros(same.shape), far)
    return _Pieces(common, a.shares[:, resource] @ b.shares[:, resource].T, far)


def _own(asked: Shots, amounts: _Amounts, metric: int) -> Floats:
    """Variances before anything is known, shape (n,)."""
    found = np.full(len(asked), amounts.whole**2 + amounts.near**2)
    resource = _resource(metric)
    if resource is not None:
        found += amounts.terms**2 * (asked.shares[:, resource] ** 2).sum(axis=1)
    return found


def _resource(metric: int) -> int | None:
    name = METRICS[metric]
    return SUMMED.index(name) if name in SUMMED else None


def _blocks(a: Shots, b: Shots) -> Iterator[tuple[list[int], list[int]]]:
    """Rows of both that are of one structure and of one number of loops and memories."""
    rows, columns = _grouped(a), _grouped(b)
    for key in rows.keys() & columns.keys():
        yield rows[key], columns[key]


def _grouped(shots: Shots) -> dict[tuple[str, int], list[int]]:
    found: dict[tuple[str, int], list[int]] = {}
    for n, (name, where) in enumerate(zip(shots.structure, shots.places, strict=True)):
        found.setdefault((name, len(where)), []).append(n)
    return found


def joined(first: Shots | None, second: Shots) -> Shots:
    """Both, the later ones kept where there are too many.

    A design of both counts once: what the second says of it holds, and what it does not say is as
    the first has it.
    """
    if first is None:
        both = second
    else:
        again = {key: n for n, key in enumerate(_keys(second))}
        missed = second.missed.copy()
        kept = []
        for n, key in enumerate(_keys(first)):
            if key in again:
                row = again[key]
                missed[row] = np.where(np.isnan(second.missed[row]), first.missed[n], missed[row])
            else:
                kept.append(n)
        before = _part(first, np.array(kept, np.int64))
        both = Shots(
            before.structure + second.structure,
            before.places + second.places,
            np.concatenate([before.shares, second.shares]),
            np.concatenate([before.missed, missed]),
        )
    rows = np.arange(max(0, len(both) - MOST_SHOTS), len(both))
    return _part(both, rows)


def _keys(shots: Shots) -> Iterator[tuple[str, bytes, bytes]]:
    """By what designs are the same."""
    for name, where, shares in zip(shots.structure, shots.places, shots.shares, strict=True):
        yield name, where.tobytes(), shares.tobytes()
