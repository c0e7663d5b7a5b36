"""LUTs and flip-flops of examples as sums of the white box's terms, fitted to the examples at hand.

The coefficients that ship were fitted to every labelled design: a predictor that is judged on
designs it has not seen must fit its own. See `qor_gnn.fit.calibrate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from qor_gnn.area.resources import coefficients
from qor_gnn.area.terms import FF_TERMS, LUT_TERMS, OPEN_FF_TERMS, OPEN_LUT_TERMS, Term
from qor_gnn.fit.calibrate import RIDGE, TRUSTED, Problem
from qor_gnn.gnn.examples.example import Example, Floats, column, distinct
from qor_gnn.tools.personality import available, personality

TERMS: dict[str, tuple[Term, ...]] = {"lut": LUT_TERMS, "ff": FF_TERMS}
OPEN_TERMS: dict[str, tuple[Term, ...]] = {"lut": OPEN_LUT_TERMS, "ff": OPEN_FF_TERMS}
"""Of the open backend. A design has terms of one kind; both kinds have the same columns."""
FOLDS = 6

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TermModel:
    """Coefficients by target and resource; without those of a target it is what ``base`` says."""

    costs: Mapping[tuple[str, str], Floats] = field(default_factory=dict)

    def parts(self, examples: Sequence[Example], resource: str) -> Floats:
        """What of a resource each term is, the fixed part last, shape (n, terms + 1)."""
        found = amounts_of(examples, resource)
        for target in distinct(e.target for e in examples):
            rows = np.array([e.target == target for e in examples])
            costs = self.costs.get((target, resource))
            if costs is not None:
                found[rows] *= costs
            else:
                found[rows] = 0.0
                found[rows, -1] = column(examples, resource, "base")[rows]
        return found

    def totals(self, examples: Sequence[Example], resource: str) -> Floats:
        """The resource of each design, at least 1, shape (n,)."""
        return total_of(self.parts(examples, resource))


def total_of(parts: Floats) -> Floats:
    """The sums of parts, at least 1, shape (n,)."""
    found: Floats = np.maximum(1.0, parts.sum(axis=1))
    return found


def amounts_of(examples: Sequence[Example], resource: str) -> Floats:
    """How much of each term the designs have, the fixed part last, shape (n, terms + 1)."""
    found = np.zeros((len(examples), len(TERMS[resource]) + 1))
    names, own = (
        [f"{resource}.{term.name}" for term in kind[resource]] for kind in (TERMS, OPEN_TERMS)
    )
    for row, one in zip(found, examples, strict=True):
        mine = own if own[0] in one.terms else names
        row[: len(mine)] = [one.terms.get(name, 0.0) for name in mine]
        row[-1] = one.terms.get(f"{resource}.fixed", 0.0)
    return found


def terms_of_target(target: str, resource: str) -> tuple[Term, ...]:
    """The terms of a tool's designs: fewer of the open backend's than there are columns."""
    return (OPEN_TERMS if is_open(target) else TERMS)[resource]


def is_open(target: str) -> bool:
    """It is the open backend, whose terms are its own."""
    return target in available() and personality(target).is_open


def fit_terms(examples: Sequence[Example]) -> TermModel:
    """Coefficients for each target whose designs have terms. Only whole kernels count, all the same."""
    costs: dict[tuple[str, str], Floats] = {}
    for resource in TERMS:
        problems = _problems(examples, resource)
        for target, (problem, rows) in problems.items():
            costs[target, resource] = _costs(problem, rows)
    return TermModel(costs)


def _costs(problem: Problem, rows: Mask) -> Floats:
    return np.append(problem.part(rows).solved(), 1.0)


def _problems(examples: Sequence[Example], resource: str) -> dict[str, tuple[Problem, Mask]]:
    """By target the problem over all examples, and the rows that it is to be solved on."""
    amounts, labels = amounts_of(examples, resource), column(examples, resource)
    weights = np.array([e.weight for e in examples])
    # A nest alone is another design than it is inside a kernel: measured, see docs/qor-gnn.md.
    known = np.array([_has_terms(e) and not e.part for e in examples], dtype=np.bool_)
    known &= labels > 0
    found = {}
    for target in distinct(e.target for e in examples):
        rows = known & np.array([e.target == target for e in examples], dtype=np.bool_)
        if rows.any():
            terms = terms_of_target(target, resource)
            priors = np.zeros(amounts.shape[1] - 1)
            priors[: len(terms)], ridge = _priors(target, resource, terms)
            problem = Problem(
                tuple(term.name for term in terms),
                priors,
                amounts[:, :-1],
                amounts[:, -1],
                labels,
                _shared(examples, weights, rows),
                ridge,
            )
            found[target] = problem, rows
    return found


def _priors(target: str, resource: str, terms: tuple[Term, ...]) -> tuple[list[float], float]:
    """What a term costs before any label of the target is seen, and the weight of that."""
    known = coefficients(target)
    if known is None or not known.taken_over:
        return [term.prior for term in terms], RIDGE
    costs = {"lut": known.lut, "ff": known.ff}[resource]
    return [costs[term.name] for term in terms], TRUSTED


def _shared(examples: Sequence[Example], weights: Floats, rows: Mask) -> Floats:
    """Weights that add up to 1 in each kernel."""
    totals: dict[str, float] = {}
    for one, weight, mine in zip(examples, weights, rows, strict=True):
        totals[one.kernel] = totals.get(one.kernel, 0.0) + weight * mine
    return np.array([w / (totals[e.kernel] or 1.0) for e, w in zip(examples, weights, strict=True)])


def _has_terms(one: Example) -> bool:
    return any(not name.endswith(".fixed") and amount for name, amount in one.terms.items())


# --------------------------------------------------------------------------------------- cross-fit


def folds(
    train: Sequence[Example], valid: Sequence[Example], most: int = FOLDS
) -> npt.NDArray[np.int64]:
    """The fold of each example of both, as alike as possible to what will be asked, shape (n,).

    Designs that were held back to validate with say that designs of known kernels will be asked
    about: groups are in folds by chance. Without any it will be new kernels: each is in one fold,
    and each fold has about the same number of designs.
    """
    if valid:
        known = [*train, *valid]
        return np.array([int(e.group, 16) % most for e in known], dtype=np.int64)
    examples = train
    sizes: dict[str, int] = {}
    for one in examples:
        sizes[one.kernel] = sizes.get(one.kernel, 0) + 1
    full = [0] * min(most, len(sizes))
    place: dict[str, int] = {}
    for kernel in sorted(sizes, key=lambda k: (-sizes[k], k)):
        place[kernel] = full.index(min(full))
        full[place[kernel]] += sizes[kernel]
    return np.array([place[e.kernel] for e in examples], dtype=np.int64)


def cross_parts(examples: Sequence[Example], resource: str, fold: npt.NDArray[np.int64]) -> Floats:
    """As `TermModel.parts`, by coefficients that an example's fold had no part in."""
    problems = _problems(examples, resource)
    found = np.zeros((len(examples), len(TERMS[resource]) + 1))
    for k in np.unique(fold):
        costs = {}
        for target, (problem, rows) in problems.items():
            others = rows & (fold != k)
            costs[target, resource] = _costs(problem, others if others.any() else rows)
        asked = np.flatnonzero(fold == k)
        found[asked] = TermModel(costs).parts([examples[int(n)] for n in asked], resource)
    return found


def residuals(examples: Sequence[Example], metric: str, guess: Floats) -> Floats:
    """``log1p(label) - log1p(guess)``, NaN without a label, shape (n,)."""
    found: Floats = np.log1p(column(examples, metric)) - np.log1p(guess)
    return found
