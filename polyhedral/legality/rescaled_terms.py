"""What a rescaled sum is multiplied by and what is added to it, by algebra: ``s * exp(c * (before - after)) + w * exp(e - c * after)``.

``before`` and ``after`` are a running extremum in front of an iteration and behind it. Where the sum is written in branches,
as ``s * exp(m - x) + 1 if x > m else s + exp(x - m)``, the extremum behind is x in one of them and m in the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from dsl.expressions import typing
from dsl.expressions.exponentials import (
    ZERO,
    Polynomial,
    Term,
    coefficient,
    multiplied,
    plus,
    polynomial_of,
    scaled,
    terms_of,
    unknowns,
)
from dsl.expressions.expr import (
    Access,
    Binary,
    BinaryOp,
    Compare,
    CompareOp,
    Expr,
    Load,
    Select,
    loads,
    walk,
)
from dsl.expressions.float_sums import summed
from dsl.expressions.float_sums import terms_of as addends
from dsl.expressions.types import DType, FloatType
from polyhedral.legality.loop_bodies import LoopBody, Place

# No name of a program has a space.
BEFORE = Load(Access("extremum before", ()), FloatType("f32"))
AFTER = Load(Access("extremum after", ()), FloatType("f32"))

Resolve = Callable[[Expr, Place], Expr]


class NotRescaledError(Exception):
    """A sum is not rescaled to a running extremum; the text says why.

    Attributes:
        help: what to do.
        array: a local that it would be with, had each iteration an element of its own.
    """

    def __init__(self, text: str, help_: str | None = None, array: str | None = None) -> None:
        super().__init__(text)
        self.help = help_
        self.array = array


def marked(expr: Expr) -> bool:
    """Whether a resolved value depends on the extremum."""
    return any(x in (BEFORE, AFTER) for x in walk(expr))


@dataclass(frozen=True, slots=True)
class Scale:
    """``c`` of ``exp(c * (before - after))``."""

    factor: Polynomial

    @property
    def negative(self) -> bool:
        """Whether it is one product with a minus in front."""
        return len(self.factor) == 1 and all(weight < 0 for _, weight in self.factor)

    def unknowns(self) -> frozenset[Expr]:
        """All expressions in it."""
        return unknowns(self.factor)

    def expression(self, dtype: DType) -> Expr | None:
        """Its value, without the minus of one that is negative; None where that is 1."""
        products: list[Expr] = []
        for names, weight in sorted((sorted(map(repr, f)), w) for f, w in self.factor):
            factors = next(f for f, _ in self.factor if sorted(map(repr, f)) == names)
            parts = [x for x, count in sorted(factors, key=repr) for _ in range(count)]
            number = abs(weight) if self.negative else weight
            if number != 1 or not parts:
                parts = [typing.const(float(number), dtype), *parts]
            products.append(reduce(lambda a, b: typing.binary(BinaryOp.MUL, a, b), parts))
        if self.factor in (_ONE, scaled(_ONE, -1)):
            return None
        return reduce(lambda a, b: typing.binary(BinaryOp.ADD, a, b), products)


_ONE: Polynomial = frozenset({(frozenset(), Fraction(1))})


@dataclass(frozen=True, slots=True)
class _Update:
    """``s * factors + terms``."""

    factors: tuple[Expr, ...]
    terms: tuple[tuple[bool, Expr], ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum that is rescaled.

    Attributes:
        load: its element.
        places: the statements that assign it.
        scale: what it is rescaled by.
        updates: what each statement adds, at the last extremum.
    """

    load: Load
    places: tuple[Place, ...]
    scale: Scale
    updates: tuple[tuple[tuple[bool, Expr], ...], ...]

    def added(self, place: Place) -> Expr | None:
        """What a statement assigns where nothing is rescaled; None where it only did that."""
        terms = self.updates[self.places.index(place)]
        if not terms:
            return None
        plus_first = terms[0][0]
        alike = [(sign == plus_first, term) for sign, term in terms]
        whole = alike[0][1] if len(alike) == 1 else summed(alike, place.stmt.value)
        op = BinaryOp.ADD if plus_first else BinaryOp.SUB
        return Binary(op, self.load, whole, self.load.dtype, place.stmt.span)


def scaled_sum(body: LoopBody, array: str, resolve: Resolve, compared: Expr, kind: BinaryOp) -> Sum:
    """The sum that a loop keeps in an array.

    Args:
        body: the loop.
        array: of the sum.
        resolve: an expression at a place by what it is of the iteration's inputs and of the extremum.
        compared: what the extremum is compared with.
        kind: minimum or maximum.

    Raises:
        NotRescaledError: it is none.
    """
    places = tuple(body.writers(array))
    load = _element(body, array, places)
    updates = [_update(place, load, place.stmt.value) for place in places]
    if any(update is None for update in updates):
        found = _in_branches(places, load, resolve, compared, kind)
        if found is None:
            raise _not_rescaled(load)
        return Sum(load, places, *found)
    factors: list[Expr] = []
    terms: list[Term] = []
    for place, update in zip(places, updates, strict=True):
        assert update is not None
        if update.factors and terms:
            raise NotRescaledError(f"{place.stmt.name} rescales what is added in front of it")
        factors += [resolve(x, place) for x in update.factors]
        terms += _terms([(sign, resolve(x, place)) for sign, x in update.terms], load)
    scale = _scale(factors, load)
    if not terms or any(_without(t.exponent, scale) is None or _depends(t) for t in terms):
        raise _not_rescaled(load)
    return Sum(load, places, scale, tuple(u.terms for u in updates if u is not None))


def _element(body: LoopBody, array: str, places: tuple[Place, ...]) -> Load:
    """The element that all statements assign, and nothing else reads."""
    target, around = places[0].stmt.target, places[0].around
    dtype = body.program.array(array).dtype
    if body.is_own(array) or not isinstance(dtype, FloatType):
        raise NotRescaledError(f"'{array}' keeps no sum of floats through '{body.loop.var}'")
    for place in places:
        same = len(place.around) == len(around)
        if not same or any(a is not b for a, b in zip(place.around, around, strict=False)):
            raise NotRescaledError(
                f"{place.stmt.name} adds in other loops than {places[0].stmt.name}"
            )
    for place in body.places:
        touched = place.accesses if place in places else loads(place.stmt.value)
        for access in touched:
            if access.array == array and (place not in places or access != target):
                raise NotRescaledError(f"{place.stmt.name} reads '{array}' in between")
    return Load(target, dtype)


def _not_rescaled(load: Load) -> NotRescaledError:
    text = f"{load.access} is not rescaled as an extremum changes"
    return NotRescaledError(
        text,
        "that is s * exp(old - new) + exp(x - new), new = max(old, x), or what comes to the same",
    )


def _update(place: Place, load: Load, value: Expr) -> _Update | None:
    """What a statement makes of the sum; None where it does something else."""
    if value.dtype != load.dtype:
        return None
    terms = addends(value)
    own = [(sign, term) for sign, term in terms if load in walk(term)]
    if len(own) != 1 or not own[0][0]:
        return None
    factors = list(_factors(own[0][1]))
    others = tuple(x for x in factors if x != load)
    if len(others) != len(factors) - 1 or any(load in walk(x) for x in others):
        return None
    return _Update(others, tuple(t for t in terms if t != own[0]))


def _factors(value: Expr) -> Iterator[Expr]:
    """Those of a product."""
    if isinstance(value, Binary) and value.op is BinaryOp.MUL:
        yield from _factors(value.lhs)
        yield from _factors(value.rhs)
    else:
        yield value


def _product(factors: list[Expr], dtype: DType) -> Expr:
    return reduce(lambda a, b: Binary(BinaryOp.MUL, a, b, dtype), factors)


def _terms(parts: list[tuple[bool, Expr]], load: Load) -> list[Term]:
    found: list[Term] = []
    for sign, part in parts:
        terms = terms_of(part)
        if terms is None:
            raise _not_rescaled(load)
        found += terms if sign else [Term(-t.weight, t.factors, t.exponent) for t in terms]
    return found


def _exponent(factors: list[Expr], load: Load) -> Polynomial:
    """Of the exponential that factors are; of none that of 1."""
    if not factors:
        return ZERO
    terms = terms_of(_product(factors, load.dtype))
    if terms is None or len(terms) != 1 or terms[0].factors or terms[0].weight != 1:
        raise _not_rescaled(load)
    return terms[0].exponent


def _scale(factors: list[Expr], load: Load) -> Scale:
    """``c``, where the factors are ``exp(c * (before - after))``."""
    exponent = _exponent(factors, load)
    found = coefficient(exponent, BEFORE)
    rest = coefficient(found[1], AFTER) if found is not None else None
    if found is None or rest is None or rest[1] or plus(found[0], rest[0]) or not found[0]:
        raise _not_rescaled(load)
    if _of_extremum(found[0]):
        raise _not_rescaled(load)
    return Scale(found[0])


def _without(exponent: Polynomial, scale: Scale) -> Polynomial | None:
    """``e`` of ``e - c * after``."""
    found = coefficient(exponent, AFTER)
    if found is None or plus(found[0], scale.factor) or _of_extremum(found[1]):
        return None
    return found[1]


def _of_extremum(polynomial: Polynomial) -> bool:
    return any(x in (BEFORE, AFTER) for x in unknowns(polynomial))


def _depends(term: Term) -> bool:
    """Whether a term's weight depends on the extremum."""
    return any(marked(x) for x, _ in term.factors)


# ------------------------------------------------------------------------------------ in branches

_GREATER = {CompareOp.GT: True, CompareOp.GE: True, CompareOp.LT: False, CompareOp.LE: False}


def _in_branches(
    places: tuple[Place, ...], load: Load, resolve: Resolve, compared: Expr, kind: BinaryOp
) -> tuple[Scale, tuple[tuple[tuple[bool, Expr], ...], ...]] | None:
    """The scale, and what is added where the extremum stays: the same as where it changes, by algebra."""
    value = places[0].stmt.value
    if len(places) != 1 or not isinstance(value, Select):
        return None
    cond = resolve(value.cond, places[0])
    if not isinstance(cond, Compare) or cond.op not in _GREATER:
        return None
    greater = _GREATER[cond.op]
    if (cond.lhs, cond.rhs) == (BEFORE, compared):
        greater = not greater
    elif (cond.lhs, cond.rhs) != (compared, BEFORE):
        return None
    changes = greater is (kind is BinaryOp.MAX)
    sides = (value.then, value.orelse) if changes else (value.orelse, value.then)
    changed, kept = (_update(places[0], load, side) for side in sides)
    y = polynomial_of(compared)
    if changed is None or kept is None or kept.factors or y is None:
        return None
    exponent = _with(_exponent([resolve(x, places[0]) for x in changed.factors], load), AFTER, y)
    found = coefficient(exponent, BEFORE) if exponent is not None else None
    if found is None or not found[0] or plus(found[1], multiplied(found[0], y)):
        return None
    scale = Scale(found[0])
    if _of_extremum(scale.factor):
        return None
    resolved = [[(sign, resolve(x, places[0])) for sign, x in u.terms] for u in (changed, kept)]
    moved = multiplied(scale.factor, y)
    first = [_moved(t, AFTER, y, moved) for t in _terms(resolved[0], load)]
    behind = multiplied(scale.factor, _AFTER)
    second = [_moved(t, BEFORE, _AFTER, behind) for t in _terms(resolved[1], load)]
    if not first or None in first or Counter(first) != Counter(second):
        return None
    return scale, (kept.terms,)


_AFTER: Polynomial = frozenset({(frozenset({(AFTER, 1)}), Fraction(1))})


def _with(exponent: Polynomial, unknown: Expr, by: Polynomial) -> Polynomial | None:
    """The exponent with something else in the place of an unknown."""
    found = coefficient(exponent, unknown)
    return None if found is None else plus(multiplied(found[0], by), found[1])


def _moved(term: Term, unknown: Expr, by: Polynomial, more: Polynomial) -> Term | None:
    """The term with more in its exponent, and something else in the place of an unknown; None where it still depends
    on the extremum.
    """
    exponent = _with(term.exponent, unknown, by)
    exponent = plus(exponent, more) if exponent is not None else None
    if exponent is None or _of_extremum(exponent) or _depends(term):
        return None
    return Term(term.weight, term.factors, exponent)
