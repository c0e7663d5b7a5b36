"""Fits the coefficients of the resource terms to labels.

Non-negative least squares of relative errors, each kernel counting the same, with a ridge that
holds what the labels do not tell to the terms' priors. Labels that are equal count as one design.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qor_gnn.area.resources import Coefficients
from qor_gnn.area.terms import FF_TERMS, LUT_TERMS, Sums, Term

RIDGE = 0.3
"""Weight of the priors, relative to that of the labels, where there are `MANY` designs or more."""

TRUSTED = 10.0
"""The same for priors that were fitted to another version of the tool: kernels of this one tell less
about each other than those labels do (docs/lab/resources.md)."""

MANY = 100

FAR = 2.5
"""Designs that the priors miss by more than this factor teach nothing: it is their schedule, not
their terms, that is not understood."""

_LEAST = 1e-9  # ridge of a term that no design has: its prior is what is left

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A design with what it has of each term and what the tool reported.

    ``group`` is the kernel: groups count the same, and are left out as a whole. ``weight`` is the
    share of its group's weight that the design has beside others of the group.
    """

    group: str
    sums: Sums
    lut: float
    ff: float
    weight: float = 1.0


def calibrate(
    designs: Sequence[Labelled], tool: str, source: Mapping[str, Any], ridge: float | None = None
) -> Coefficients:
    """Coefficients from labelled designs.

    Args:
        designs: at least one.
        tool: name of the personality that scheduled them.
        source: where the labels are from, kept in the result next to the errors of the fit.
        ridge: weight of the priors, relative to that of the labels; None for `RIDGE`, and more of it
            where there are few designs.

    Raises:
        ValueError: there are no designs, or a label is not positive.
    """
    found: dict[str, dict[str, float]] = {}
    errors: dict[str, float] = {}
    for resource, terms in (("lut", LUT_TERMS), ("ff", FF_TERMS)):
        problem = _problem(designs, resource, terms)
        solution = problem.solved(ridge)
        found[resource] = dict(zip(problem.names, map(float, solution), strict=True))
        errors[f"{resource}_mape_pct"] = round(100 * problem.error(solution), 3)
    kept = {**source, "designs": len(designs), **errors}
    return Coefficients(tool, found["lut"], found["ff"], kept)


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a fit without the design's group says of it."""

    lut: float
    ff: float


def left_out(
    designs: Sequence[Labelled],
    also: Sequence[Labelled] = (),
    on_fit: Callable[[str], None] = lambda _: None,
) -> list[Prediction]:
    """For each design the prediction of coefficients that its group had no part in.

    Args:
        designs: of two groups or more.
        also: further designs to learn from, of other groups than the one that is left out.
        on_fit: is told each fit.

    Raises:
        ValueError: nothing is left to learn from.
    """
    values: dict[str, Vector] = {}
    everything = [*designs, *also]
    groups = np.array([d.group for d in everything])
    asked = np.arange(len(everything)) < len(designs)
    for resource, terms in (("lut", LUT_TERMS), ("ff", FF_TERMS)):
        problem = _problem(everything, resource, terms)
        values[resource] = np.zeros(len(everything))
        for group in dict.fromkeys(d.group for d in designs):
            on_fit(f"{resource} without {group}")
            if (groups == group).all():
                raise ValueError(f"every design is of {group}: leaving it out leaves nothing")
            coefficients = problem.part(groups != group).solved()
            rows = asked & (groups == group)
            values[resource][rows] = problem.part(rows).predicted(coefficients)
    pairs = zip(values["lut"], values["ff"], strict=True)
    return [Prediction(float(lut), float(ff)) for lut, ff in list(pairs)[: len(designs)]]


@dataclass(frozen=True, slots=True)
class Problem:
    """``amounts @ x + fixed`` is to be ``labels``; ``weights`` add up to 1 in each group.

    ``ridge`` is the weight of the priors where there are `MANY` designs.
    """

    names: tuple[str, ...]
    prior: Vector
    amounts: Vector
    fixed: Vector
    labels: Vector
    weights: Vector
    ridge: float = RIDGE

    def part(self, rows: NDArray[np.bool_]) -> Problem:
        """The same of some rows."""
        return Problem(
            self.names,
            self.prior,
            self.amounts[rows],
            self.fixed[rows],
            self.labels[rows],
            self.weights[rows],
            self.ridge,
        )

    def predicted(self, x: Vector) -> Vector:
        """The sums with coefficients ``x``."""
        return self.amounts @ x + self.fixed

    def error(self, x: Vector) -> float:
        """The mean relative error, by weight."""
        relative = np.abs(self.predicted(x) / self.labels - 1)
        return float(np.average(relative, weights=self.weights))

    def solved(self, weight: float | None = None) -> Vector:
        """The coefficients."""
        if weight is None:
            weight = self.ridge * max(1.0, MANY / len(self.labels))
        rows = self.amounts / self.labels[:, None]
        target = 1 - self.fixed / self.labels
        ratio = self.predicted(self.prior) / self.labels
        near = (ratio < FAR) & (ratio > 1 / FAR)
        weights = np.where(near, self.weights, 0.0) if near.any() else self.weights
        weights = weights / weights.sum()
        gram = (rows * weights[:, None]).T @ rows
        # A term's ridge is in proportion to how much it has to say: no choice of units matters.
        ridge = weight * np.diag(gram) + _LEAST
        wanted = (rows * weights[:, None]).T @ target + ridge * self.prior
        return non_negative(gram + np.diag(ridge), wanted)


def _problem(designs: Sequence[Labelled], resource: str, terms: Sequence[Term]) -> Problem:
    if not designs:
        raise ValueError("there are no designs to calibrate with")
    labels = np.array([getattr(d, resource) for d in designs], float)
    if not (labels > 0).all():
        raise ValueError(f"a design has a label of {resource} that is not positive")
    names = tuple(term.name for term in terms)
    amounts = [getattr(d.sums, resource) for d in designs]
    totals: dict[str, float] = {}
    for d in designs:
        totals[d.group] = totals.get(d.group, 0.0) + d.weight
    return Problem(
        names,
        np.array([term.prior for term in terms], float),
        np.array([[a.get(name, 0.0) for name in names] for a in amounts], float),
        np.array([getattr(d.sums, f"{resource}_fixed") for d in designs], float),
        labels,
        np.array([d.weight / totals[d.group] for d in designs], float),
    )


def non_negative(gram: Vector, wanted: Vector) -> Vector:
    """The x ≥ 0 that minimises x·gram·x / 2 − wanted·x.

    Args:
        gram: symmetric and positive definite, shape (n, n).
        wanted: shape (n,).
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    # With gram = L·Lᵀ it is the least |Lᵀ·x − L⁻¹·wanted|. Scaled: rows differ by many orders.
    scale = 1 / np.sqrt(np.diag(gram))
    lower = np.linalg.cholesky(gram * np.outer(scale, scale))
    found, _ = nnls(lower.T, solve_triangular(lower, wanted * scale, lower=True))
    return np.asarray(found * scale, float)
