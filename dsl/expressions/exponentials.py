"""Values of floats as sums of terms ``w * exp(e)``, with ``e`` a polynomial: what two of them have in common by algebra.

Rounding is left out: ``exp(a - b) * exp(b - c)`` and ``exp(a - c)`` are one term here. What is no sum, product or
exponential is an unknown, which is equal to itself alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from dsl.expressions.expr import Binary, BinaryOp, Const, Expr, Unary, UnaryOp, walk
from dsl.expressions.types import FloatType

Monomial = frozenset[tuple[Expr, int]]
"""A product of unknowns, each with how often it is a factor."""

Polynomial = frozenset[tuple[Monomial, Fraction]]
"""A sum of products of unknowns, each with its coefficient, which is not 0."""

MOST = 64  # terms of a value

ZERO: Polynomial = frozenset()


@dataclass(frozen=True, slots=True)
class Term:
    """``weight * factors * exp(exponent)``."""

    weight: Fraction
    factors: Monomial = frozenset()
    exponent: Polynomial = ZERO


def terms_of(value: Expr) -> tuple[Term, ...] | None:
    """The terms that a value is the sum of; None where there are too many."""
    found: Counter[tuple[Monomial, Polynomial]] = Counter()
    parts = _terms(value)
    if parts is None:
        return None
    for term in parts:
        found[term.factors, term.exponent] += term.weight  # type: ignore[assignment]
    return tuple(Term(Fraction(w), *key) for key, w in found.items() if w)


def polynomial_of(value: Expr) -> Polynomial | None:
    """A value without exponentials as a polynomial; None where it has some."""
    terms = terms_of(value)
    if terms is None or any(term.exponent for term in terms):
        return None
    return frozenset((term.factors, term.weight) for term in terms)


def plus(a: Polynomial, b: Polynomial) -> Polynomial:
    """Their sum."""
    found: dict[Monomial, Fraction] = {}
    for factors, weight in (*a, *b):
        found[factors] = found.get(factors, Fraction(0)) + weight
    return frozenset((factors, weight) for factors, weight in found.items() if weight)


def scaled(a: Polynomial, by: int) -> Polynomial:
    """A multiple."""
    return frozenset((factors, weight * by) for factors, weight in a) if by else ZERO


def multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    """Their product."""
    found = ZERO
    for one, weight in a:
        found = plus(found, frozenset((_joined(one, two), weight * w) for two, w in b))
    return found


def coefficient(a: Polynomial, unknown: Expr) -> tuple[Polynomial, Polynomial] | None:
    """``p`` and ``q`` of ``a = p * unknown + q``; None where the unknown is there in another way."""
    p: list[tuple[Monomial, Fraction]] = []
    q: list[tuple[Monomial, Fraction]] = []
    for factors, weight in a:
        if (unknown, 1) in factors:
            p.append((factors - {(unknown, 1)}, weight))
        else:
            q.append((factors, weight))
    made = frozenset(p), frozenset(q)
    return None if any(unknown in unknowns(part) for part in made) else made


def unknowns(a: Polynomial) -> frozenset[Expr]:
    """The unknowns of a polynomial, and all expressions in them."""
    return frozenset(x for factors, _ in a for each, _ in factors for x in walk(each))


def _joined(a: Monomial, b: Monomial) -> Monomial:
    found = Counter(dict(a))
    found.update(dict(b))
    return frozenset(found.items())


def _terms(value: Expr) -> tuple[Term, ...] | None:
    """The terms, of which several may be alike."""
    match value:
        case Const(value=number) if isfinite(number):
            return (Term(Fraction(number)),) if number else ()
        case Unary(UnaryOp.NEG, x) if isinstance(value.dtype, FloatType):
            return _negative(_terms(x))
        case Unary(UnaryOp.EXP, x):
            exponent = polynomial_of(x)
            return None if exponent is None else (Term(Fraction(1), frozenset(), exponent),)
        case Binary(op, x, y, dtype) if isinstance(dtype, FloatType) and op in _OPS:
            a, b = _terms(x), _terms(y)
            if a is None or b is None:
                return None
            if op is BinaryOp.DIV:
                return _divided(a, b, value)
            found = (*a, *(b if op is BinaryOp.ADD else _negative(b) or ()))
            found = tuple(_products(a, b)) if op is BinaryOp.MUL else found
            return found if len(found) <= MOST else None
        case _:
            return (Term(Fraction(1), frozenset({(value, 1)})),)


_OPS = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV)


def _negative(terms: tuple[Term, ...] | None) -> tuple[Term, ...] | None:
    if terms is None:
        return None
    return tuple(Term(-t.weight, t.factors, t.exponent) for t in terms)


def _products(a: tuple[Term, ...], b: tuple[Term, ...]) -> Iterator[Term]:
    for x in a:
        for y in b:
            exponent = plus(x.exponent, y.exponent)
            yield Term(x.weight * y.weight, _joined(x.factors, y.factors), exponent)


def _divided(a: tuple[Term, ...], b: tuple[Term, ...], value: Expr) -> tuple[Term, ...]:
    """By a constant or by one exponential; anything else is an unknown."""
    if len(b) == 1 and not b[0].factors:
        (by,) = b
        return tuple(
            Term(t.weight / by.weight, t.factors, plus(t.exponent, scaled(by.exponent, -1)))
            for t in a
        )
    return (Term(Fraction(1), frozenset({(value, 1)})),)
