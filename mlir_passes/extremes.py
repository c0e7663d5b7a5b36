"""Smallest and largest values of affine expressions inside of loops: what decides that a guard
always holds and which of several bounds counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from dsl.affine import Affine, FloorDiv
from mlir_passes.affine_maps import split_remainders
from mlir_passes.loop_bounds import Bounds


@dataclass(frozen=True, slots=True)
class Scope:
    """The loops around, outermost first: each variable's name and bounds."""

    loops: tuple[tuple[str, Bounds], ...] = ()

    def inside(self, name: str, bounds: Bounds) -> Scope:
        """The scope of the loop's body."""
        return Scope((*self.loops, (name, bounds)))


def minimum(expr: Affine, scope: Scope) -> int | None:
    """A lower bound of the expression over all iterations in which the loops run, None if unknown.

    Variables are replaced by their bounds from the innermost outwards (Fourier-Motzkin without
    cuts), so that what two variables have in common cancels. It is exact for unit steps and single
    bounds without floor divisions, and never too large.
    """
    expr, remainders = split_remainders(expr)
    least = sum(scale * (divisor - 1) for scale, _, divisor in remainders if scale < 0)
    found = _minimum(expr, scope)
    return None if found is None else found + least


def _minimum(expr: Affine, scope: Scope) -> int | None:
    for depth in range(len(scope.loops) - 1, -1, -1):
        name, bounds = scope.loops[depth]
        if name not in expr.variables():
            continue
        expr = _without_floors(expr, name, Scope(scope.loops[: depth + 1]))
        c = expr.coefficient(name)
        if c == 0:
            continue
        ends = bounds.lowers if c > 0 else _lasts(bounds)
        outer = Scope(scope.loops[:depth])
        # Each lower bound is below the variable: all results are valid, the largest says most.
        found = [minimum(expr.substitute({name: end}), outer) for end in ends]
        return max((x for x in found if x is not None), default=None)
    return expr.const if expr.is_const else None


def _lasts(bounds: Bounds) -> tuple[Affine, ...]:
    """What the variable does not exceed."""
    if bounds.are_constant and len(bounds.lowers) == len(bounds.uppers) == 1:
        first, end = bounds.lowers[0].const, bounds.uppers[0].const
        return (Affine.of(first + (end - 1 - first) // bounds.step * bounds.step),)
    return tuple(u - 1 for u in bounds.uppers)


def maximum(expr: Affine, scope: Scope) -> int | None:
    """An upper bound of the expression, as `minimum`."""
    found = minimum(-expr, scope)
    return None if found is None else -found


def _without_floors(expr: Affine, name: str, scope: Scope) -> Affine:
    """The expression with each floor division in which the variable occurs at its least.

    Where that is not known the division stays, and with it a variable, so that nothing is claimed.
    """
    result = Affine((), expr.const)
    for atom, c in expr.terms:
        match atom:
            case FloorDiv(numerator, denominator) if name in numerator.variables():
                end = minimum(numerator, scope) if c > 0 else maximum(numerator, scope)
                if end is None:
                    result = result + Affine(((atom, c),))
                else:
                    result = result + (end // denominator) * c
            case _:
                result = result + Affine(((atom, c),))
    return result
