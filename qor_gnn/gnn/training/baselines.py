"""Predictors without a network, which every table has beside it.

`WhiteBox` is the model with its resource terms fitted to the designs at hand; `ResidualTrees` adds
gradient-boosted trees on its features; `PragmaTrees` sees the directives alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from qor_gnn.gnn.examples.example import METRICS, Z90, Example, Floats, Prediction, column
from qor_gnn.gnn.examples.terms import (
    TERMS,
    TermModel,
    cross_parts,
    fit_terms,
    folds,
    residuals,
    total_of,
)
from qor_gnn.gnn.training.features import (
    base_features,
    graph_features,
    pragma_features,
    share_features,
)

Folds = npt.NDArray[np.int64]
LEAST = 0.002
"""Standard deviation of a logarithm, at least."""

RIGHT, MOST = 1e-4, 0.95
"""A metric that the white box has right to this (in logarithms) for this share is left alone."""


# ---------------------------------------------------------------------------------------- white box


@dataclass(frozen=True, slots=True)
class WhiteBox:
    """The white box alone."""

    name: str = "white box"

    def fit(self, train: Sequence[Example], valid: Sequence[Example], seed: int) -> FittedWhiteBox:
        """Fit the coefficients of LUT and FF; spreads from kernels left out in turn."""
        known = [*train, *valid]
        fold = folds(train, valid)
        spread = {}
        for metric in METRICS:
            guess = _cross_base(known, metric, fold)
            spread[metric] = spread_of(known, residuals(known, metric, guess))
        return FittedWhiteBox(fit_terms(known), spread)


@dataclass(frozen=True, slots=True)
class FittedWhiteBox:
    """Coefficients, and the spread of the logarithm of each metric."""

    terms: TermModel
    spread: Mapping[str, float]

    def predict(self, examples: Sequence[Example]) -> Prediction:
        """What the model says."""
        mean = {metric: based(self.terms, examples, metric) for metric in METRICS}
        std = {m: np.full(len(examples), self.spread[m]) for m in METRICS}
        return Prediction(mean, std)


def based(terms: TermModel, examples: Sequence[Example], metric: str) -> Floats:
    """The white box's answer with fitted terms, shape (n,)."""
    if metric in TERMS:
        return terms.totals(examples, metric)
    return column(examples, metric, "base")


def _cross_base(examples: Sequence[Example], metric: str, fold: Folds) -> Floats:
    if metric in TERMS:
        return total_of(cross_parts(examples, metric, fold))
    return column(examples, metric, "base")


def spread_of(examples: Sequence[Example], off: Floats) -> float:
    """Such that 90% of the residuals are within `Z90` of it; kernels count the same."""
    given = ~np.isnan(off)
    if not given.any():
        return 1.0
    size, weight = np.abs(off[given]), kernel_weights(examples)[given]
    order = np.argsort(size)
    total = np.cumsum(weight[order])
    return max(LEAST, float(size[order][np.searchsorted(total, 0.9 * total[-1])]) / Z90)


def kernel_weights(examples: Sequence[Example]) -> Floats:
    """Weights that add up to the same for each kernel of each target, 1 on average, shape (n,)."""
    total: dict[tuple[str, str], float] = {}
    for one in examples:
        key = one.target, one.kernel
        total[key] = total.get(key, 0.0) + one.weight
    found = np.array([e.weight / total[e.target, e.kernel] for e in examples])
    return np.asarray(found * len(found) / max(1e-12, found.sum()), dtype=np.float64)


# --------------------------------------------------------------------------------------------- trees


@dataclass(frozen=True, slots=True)
class ResidualTrees:
    """Gradient-boosted trees on the white box's features: they learn the logarithm of its error.

    Attributes:
        name: for tables.
        shares, graph, pragmas: which features there are beside the model's own figures.
        rounds, leaves, rate, least, bins: of `sklearn.ensemble.HistGradientBoostingRegressor`, which
            takes most of its time to find the bounds of bins.
        shrink: of the learned correction; None chooses it by kernels left out in turn.
    """

    name: str = "white box + trees"
    shares: bool = True
    graph: bool = True
    pragmas: bool = False
    rounds: int = 150
    leaves: int = 15
    rate: float = 0.1
    least: int = 20
    bins: int = 63
    shrink: float | None = None

    def fit(self, train: Sequence[Example], valid: Sequence[Example], seed: int) -> FittedTrees:
        """Learn, with one thread: several wait for each other where the machine is busy."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1):
            return self._fit(train, valid, seed)

    def _fit(self, train: Sequence[Example], valid: Sequence[Example], seed: int) -> FittedTrees:
        """Learn each metric; how far to trust a correction comes from kernels left out in turn."""
        known = [*train, *valid]
        fold = folds(train, valid, 4)
        parts = {r: cross_parts(known, r, fold) for r in TERMS}
        table = self.table(known, parts)
        models: dict[str, _Corrected] = {}
        for metric in METRICS:
            off = residuals(known, metric, _base_of(known, metric, parts))
            models[metric] = self._metric(known, table, off, fold, seed)
        return FittedTrees(self, fit_terms(known), models)

    def table(self, examples: Sequence[Example], parts: Mapping[str, Floats]) -> Floats:
        """The features, a row a design."""
        found = [base_features(examples)]
        if self.shares:
            found += [share_features(parts[r]) for r in TERMS]
        if self.graph:
            found.append(graph_features(examples))
        if self.pragmas:
            found.append(pragma_features(examples))
        return np.hstack(found)

    def _metric(
        self, known: Sequence[Example], table: Floats, off: Floats, fold: Folds, seed: int
    ) -> _Corrected:
        given, weight = ~np.isnan(off), kernel_weights(known)
        if not given.any() or np.average(np.abs(off[given]) < RIGHT, weights=weight[given]) > MOST:
            return _Corrected(None, 0.0, spread_of(known, off))
        guess = np.full(len(off), np.nan)
        for k in np.unique(fold):
            rows, asked = given & (fold != k), given & (fold == k)
            if rows.any() and asked.any():
                model = self._model(seed).fit(table[rows], off[rows], weight[rows])
                guess[asked] = model.predict(table[asked])
        seen = ~np.isnan(guess)
        shrink = self.shrink
        if shrink is None:
            shrink = best_shrink(off[seen], guess[seen], weight[seen])
        left = np.full(len(off), np.nan)
        left[seen] = off[seen] - shrink * guess[seen]
        model = self._model(seed).fit(table[given], off[given], weight[given])
        return _Corrected(model, shrink, spread_of(known, left))

    def _model(self, seed: int) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(
            loss="absolute_error",
            max_iter=self.rounds,
            max_leaf_nodes=self.leaves,
            max_bins=self.bins,
            learning_rate=self.rate,
            min_samples_leaf=self.least,
            l2_regularization=1.0,
            max_features=0.3,
            early_stopping=False,
            random_state=seed,
        )


def best_shrink(off: Floats, guess: Floats, weight: Floats) -> float:
    """The share of a correction, of 0 to 1 in tenths, that leaves the least mean error."""
    if not len(off):
        return 0.0
    shares = np.linspace(0.0, 1.0, 11)
    left = [float(np.average(np.abs(off - s * guess), weights=weight)) for s in shares]
    return float(shares[int(np.argmin(left))])


@dataclass(frozen=True, slots=True)
class _Corrected:
    model: Any
    shrink: float
    spread: float

    def correction(self, table: Floats) -> Floats:
        if self.model is None or not self.shrink:
            return np.zeros(len(table))
        return np.asarray(self.shrink * self.model.predict(table), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class FittedTrees:
    """Trees of each metric on top of fitted terms."""

    how: ResidualTrees
    terms: TermModel
    models: Mapping[str, _Corrected]

    def predict(self, examples: Sequence[Example]) -> Prediction:
        """The white box, corrected."""
        parts = {r: self.terms.parts(examples, r) for r in TERMS}
        table = self.how.table(examples, parts)
        mean, std = {}, {}
        for metric, model in self.models.items():
            base = _base_of(examples, metric, parts)
            mean[metric] = np.expm1(np.log1p(base) + model.correction(table)).clip(min=0.0)
            std[metric] = np.full(len(examples), model.spread)
        return Prediction(mean, std)


def _base_of(examples: Sequence[Example], metric: str, parts: Mapping[str, Floats]) -> Floats:
    if metric in TERMS:
        return total_of(parts[metric])
    return column(examples, metric, "base")


# ------------------------------------------------------------------------------------------ pragmas


@dataclass(frozen=True, slots=True)
class PragmaTrees:
    """Extremely randomised trees on the vector of directives: neither graph nor white box."""

    name: str = "trees on pragmas"
    trees: int = 100

    def fit(self, train: Sequence[Example], valid: Sequence[Example], seed: int) -> FittedPragmas:
        """Learn the logarithm of each metric from whole kernels."""
        whole = np.array([not one.part for one in (*train, *valid)])
        known = [one for one in (*train, *valid) if not one.part]
        models: dict[str, tuple[Any, float]] = {}
        table, weight = pragma_features(known), np.array([e.weight for e in known])
        for metric in METRICS:
            label = np.log1p(column(known, metric))
            given = ~np.isnan(label)
            if not given.any():
                continue
            model = self._model(seed).fit(table[given], label[given], weight[given])
            fold = folds(train, valid, 4)[whole]
            spread = spread_of(known, label - self._outside(fold, table, label, seed))
            models[metric] = model, spread
        return FittedPragmas(models)

    def _outside(self, fold: Folds, table: Floats, label: Floats, seed: int) -> Floats:
        """Predictions for folds left out in turn."""
        found = np.full(len(label), np.nan)
        few = replace(self, trees=30)
        for k in np.unique(fold):
            rows, asked = (fold != k) & ~np.isnan(label), fold == k
            if rows.any():
                found[asked] = few._model(seed).fit(table[rows], label[rows]).predict(table[asked])
        return found

    def _model(self, seed: int) -> Any:
        from sklearn.ensemble import ExtraTreesRegressor

        return ExtraTreesRegressor(n_estimators=self.trees, random_state=seed)


@dataclass(frozen=True, slots=True)
class FittedPragmas:
    """A forest and a spread for each metric; what no label taught is what the white box says."""

    models: Mapping[str, tuple[Any, float]]

    def predict(self, examples: Sequence[Example]) -> Prediction:
        """Answers from directives."""
        table = pragma_features(examples)
        mean, std = {}, {}
        for metric in METRICS:
            if metric in self.models:
                model, spread = self.models[metric]
                mean[metric] = np.expm1(model.predict(table)).clip(min=0.0)
            else:
                mean[metric], spread = column(examples, metric, "base"), 1.0
            std[metric] = np.full(len(examples), spread)
        return Prediction(mean, std)


BASELINES: Mapping[str, Callable[[], WhiteBox | ResidualTrees | PragmaTrees]] = {
    "white-box": WhiteBox,
    "trees": ResidualTrees,
    "pragmas": PragmaTrees,
}
"""By the name that a command line has for them."""
