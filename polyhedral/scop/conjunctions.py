"""Conditions as conjunctions of constraints that exclude each other: what guards are made of.

An ``affine.if`` takes a conjunction. A condition with ``or`` or ``!=`` becomes several, decided one
part after another: where the first part holds; else where the second does; and so on. Negation goes
down to the constraints first, so that a chain of ``n`` parts makes ``n`` conjunctions of one
condition and one of its negation, where negating a list of conjunctions would make ``2**n``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from dsl.expressions.affine import Affine, And, Atom, Cond, Constraint, FloorDiv, Or, negate

Conjunction = tuple[Constraint, ...]
Terms = tuple[tuple[Atom, int], ...]


def conjunctions(cond: Cond) -> list[Conjunction]:
    """A condition as conjunctions that exclude each other; none is false, an empty one true."""
    match cond:
        case Constraint(expr, kind):
            low, high = _range(expr)
            if high < 0 or (kind == "==" and low > 0):
                return []
            always = low >= 0 and (kind == ">=" or high == 0)
            return [()] if always else [(cond,)]
        case And(parts):
            return both(*(conjunctions(p) for p in parts))
        case Or(parts):
            found: list[Conjunction] = []
            rest: list[Conjunction] = [()]
            for p in parts:
                found += both(rest, conjunctions(p))
                rest = both(rest, conjunctions(negate(p)))
            return found


def both(*conditions: Sequence[Conjunction]) -> list[Conjunction]:
    """Where all of the conditions hold, each given as conjunctions that exclude each other."""
    found: list[Conjunction] = [()]
    for condition in conditions:
        joined = (_joined(outer, inner) for outer in found for inner in condition)
        found = [conjunction for conjunction in joined if conjunction is not None]
    return found


def complement(conditions: Iterable[Conjunction]) -> list[Conjunction]:
    """Where none of the conjunctions holds, as conjunctions that exclude each other."""
    return both(*(_negations(c) for c in conditions))


def excluded(a: Iterable[Constraint], b: Iterable[Constraint]) -> bool:
    """Whether two conjunctions plainly exclude each other: constraints on one expression do."""
    return _joined(tuple(a), tuple(b)) is None


def _range(expr: Affine) -> tuple[float, float]:
    """The least and greatest value of a constant or a remainder, ``c*(n - d*(n // d)) + k``;
    infinite for what else may be.
    """
    if expr.is_const:
        return expr.const, expr.const
    divisions = [(atom, f) for atom, f in expr.terms if isinstance(atom, FloorDiv)]
    if len(divisions) == 1:
        (atom, f), factor = divisions[0], -divisions[0][1] // divisions[0][0].denominator
        rest = expr - Affine(((atom, f),)) - atom.numerator * factor
        if rest.is_const and f % atom.denominator == 0:
            ends = (rest.const, rest.const + factor * (atom.denominator - 1))
            return min(ends), max(ends)
    return -inf, inf


def _negations(conjunction: Conjunction) -> list[Conjunction]:
    found: list[Conjunction] = []
    for k, last in enumerate(conjunction):
        for wrong in conjunctions(negate(last)):
            found += both([conjunction[:k]], [wrong])
    return found


def _joined(first: Conjunction, second: Conjunction) -> Conjunction | None:
    """Both, without what another constraint on the same terms implies; None where two of them
    contradict each other.
    """
    if not first or not second:
        return first or second
    limits: dict[Terms, int] = {}
    for c in (*first, *second):
        for terms, least in _least(c):
            limits[terms] = max(least, limits.get(terms, least))
    found: dict[Constraint, None] = {}
    for c in (*first, *second):
        terms, least = _least(c)[0]
        opposite = (-Affine(terms)).terms
        slack = -limits[opposite] - limits[terms] if opposite in limits else None
        if slack is not None and slack < 0:
            return None
        if slack == 0:
            equal = Constraint(Affine(terms, -limits[terms]), "==")
            if Constraint(-equal.expr, "==") not in found:
                found[equal] = None
        elif limits[terms] == least:
            found[c] = None
    return tuple(found)


def _least(constraint: Constraint) -> list[tuple[Terms, int]]:
    """What the constraint says of sums of terms: each is at least a number."""
    expr = constraint.expr
    if constraint.kind == ">=":
        return [(expr.terms, -expr.const)]
    return [(expr.terms, -expr.const), ((-expr).terms, expr.const)]
