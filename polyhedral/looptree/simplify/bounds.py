"""Bounds of a loop that another bound makes redundant: ``min(32*i + 32, 100)`` for ``i < 3``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dsl.expressions.affine import Affine
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.extremes import Point, Scope, minimum, sampled


@dataclass(frozen=True, slots=True)
class Place:
    """The loops around, and some of their iterations."""

    scope: Scope = Scope()  # noqa: RUF009 - frozen
    points: Sequence[Point] = ({},)

    def inside(self, name: str, bounds: Bounds) -> Place:
        """The place of the loop's body."""
        return Place(self.scope.inside(name, bounds), sampled(self.points, name, bounds))

    def never_negative(self, expr: Affine) -> bool:
        """Whether it is shown that the expression is at least 0 in all iterations."""
        if not expr.variables() <= {name for name, _ in self.scope.loops}:
            return False
        if any(expr.evaluate(point) < 0 for point in self.points):
            return False
        least = minimum(expr, self.scope)
        return least is not None and least >= 0


def simplified_bounds(bounds: Bounds, place: Place) -> Bounds:
    """The bounds without those that can never be the largest lower or the smallest upper one."""
    if len(bounds.lowers) == len(bounds.uppers) == 1:
        return bounds
    return replace(
        bounds,
        lowers=_kept(bounds.lowers, lambda a, b: place.never_negative(a - b)),
        uppers=_kept(bounds.uppers, lambda a, b: place.never_negative(b - a)),
    )


def _kept(exprs: Sequence[Affine], counts: Callable[[Affine, Affine], bool]) -> tuple[Affine, ...]:
    """Those that no other one stands for; of equal ones the last."""
    kept: list[Affine] = []
    for n, expr in enumerate(exprs):
        others = (*kept, *exprs[n + 1 :])
        if not any(counts(other, expr) for other in others):
            kept.append(expr)
    return tuple(kept)
