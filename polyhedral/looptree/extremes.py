"""Smallest and largest values of affine expressions inside of loops: what decides that a guard
always holds and which of several bounds counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dsl.expressions.affine import Affine, Constraint, FloorDiv
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.remainders import split_remainders


@dataclass(frozen=True, slots=True)
class Scope:
    """The loops around, outermost first: each variable's name and bounds.

    Attributes:
        loops: these.
        held: what guards around say is 0 or more. Extremes are those of the loops alone.
    """

    loops: tuple[tuple[str, Bounds], ...] = ()
    held: tuple[Affine, ...] = ()

    def inside(self, name: str, bounds: Bounds) -> Scope:
        """The scope of the loop's body."""
        return Scope((*self.loops, (name, bounds)), self.held)

    def under(self, constraints: Sequence[Constraint]) -> Scope:
        """The scope of a guard's body."""
        more = (c.expr for c in constraints if c.kind == ">=")
        return Scope(self.loops, (*self.held, *more))


EFFORT = 64
"""Substitutions to try for one answer: nests of tiled and skewed loops have thousands."""

_POINTS = 48

Point = Mapping[str, int]
"""Values of the loop variables in one iteration."""


def minimum(expr: Affine, scope: Scope, effort: int = EFFORT) -> int | None:
    """A lower bound of the expression over all iterations in which the loops run, None if unknown.

    Variables are replaced by their bounds from the innermost outwards (Fourier-Motzkin without
    cuts), so that what two variables have in common cancels. It is exact for unit steps and single
    bounds without floor divisions, and never too large.
    """
    return _Search(effort).minimum(expr, scope)


def maximum(expr: Affine, scope: Scope, effort: int = EFFORT) -> int | None:
    """An upper bound of the expression, as `minimum`."""
    return _Search(effort).maximum(expr, scope)


@dataclass(slots=True)
class _Search:
    """``left`` substitutions may still be tried."""

    left: int

    def maximum(self, expr: Affine, scope: Scope) -> int | None:
        found = self.minimum(-expr, scope)
        return None if found is None else -found

    def minimum(self, expr: Affine, scope: Scope) -> int | None:
        expr, remainders = split_remainders(expr)
        least = sum(scale * (divisor - 1) for scale, _, divisor in remainders if scale < 0)
        found = self._without_remainders(expr, scope)
        return None if found is None else found + least

    def _without_remainders(self, expr: Affine, scope: Scope) -> int | None:
        variables = expr.variables()
        for depth in range(len(scope.loops) - 1, -1, -1):
            name, bounds = scope.loops[depth]
            if name not in variables:
                continue
            expr = self._without_floors(expr, name, Scope(scope.loops[: depth + 1]))
            c = expr.coefficient(name)
            if c == 0:
                continue
            outer = Scope(scope.loops[:depth])
            return self._over_ends(expr, name, bounds.lowers if c > 0 else _lasts(bounds), outer)
        return expr.const if expr.is_const else None

    def _over_ends(
        self, expr: Affine, name: str, ends: tuple[Affine, ...], outer: Scope
    ) -> int | None:
        """Each lower bound is below the variable: all results are valid, the largest says most."""
        best: int | None = None
        for end in ends:
            if self.left <= 0:
                break
            self.left -= 1
            found = self.minimum(expr.substitute({name: end}), outer)
            if found is not None and (best is None or found > best):
                best = found
        return best

    def _without_floors(self, expr: Affine, name: str, scope: Scope) -> Affine:
        """The expression with each floor division in which the variable occurs at its least.

        Where that is not known the division stays, and with it a variable, so that nothing is
        claimed.
        """
        result = Affine((), expr.const)
        for atom, c in expr.terms:
            end = None
            if isinstance(atom, FloorDiv) and name in atom.numerator.variables():
                find = self.minimum if c > 0 else self.maximum
                end = find(atom.numerator, scope)
            if end is None or isinstance(atom, str):
                result = result + Affine(((atom, c),))
            else:
                result = result + (end // atom.denominator) * c
        return result


def sampled(points: Sequence[Point], name: str, bounds: Bounds) -> list[Point]:
    """Some iterations inside of a loop, given some outside: the first, the last, one in between.

    They show quickly that something does not always hold. None where a bound is not of loops.
    """
    found: list[Point] = []
    for n, point in enumerate(points):
        try:
            low = max(e.evaluate(point) for e in bounds.lowers)
            trips = -((low - min(e.evaluate(point) for e in bounds.uppers)) // bounds.step)
        except KeyError:
            return []
        between = (2 * n + 1) * trips // (2 * len(points) + 1)
        chosen = sorted({0, between, trips - 1}) if trips > 0 else ()
        found += [{**point, name: low + k * bounds.step} for k in chosen]
    return found[:: 1 + len(found) // _POINTS]


def _lasts(bounds: Bounds) -> tuple[Affine, ...]:
    """What the variable does not exceed."""
    if bounds.are_constant and len(bounds.lowers) == len(bounds.uppers) == 1:
        first, end = bounds.lowers[0].const, bounds.uppers[0].const
        return (Affine.of(first + (end - 1 - first) // bounds.step * bounds.step),)
    return tuple(u - 1 for u in bounds.uppers)
