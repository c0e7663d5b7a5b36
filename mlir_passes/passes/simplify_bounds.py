"""Drop the bounds of a loop that another bound makes redundant.

::

    for i = 0 to 3:                              for i = 0 to 3:
      for j = 32*i to min(32*i + 32, 100):   →     for j = 32*i to 32*i + 32:
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dsl.expressions.affine import Affine
from mlir_passes.dialect.attributes import top_function
from mlir_passes.extremes import Point, Scope, minimum, sampled
from mlir_passes.loop_bounds import Bounds, Names, bounds_of
from mlir_passes.rewrite import with_bounds


@dataclass(frozen=True, slots=True)
class SimplifyBounds:
    """Keep of ``max(...)`` and ``min(...)`` only what can be the largest or smallest."""

    name: ClassVar[str] = "simplify-bounds"

    def apply(self, module: Any) -> None:
        """Change the module in place."""
        with module.context:
            _walk(top_function(module).regions[0].blocks[0], _Place(Scope(), [{}]), Names())


@dataclass(frozen=True, slots=True)
class _Place:
    """The loops around, and some of their iterations."""

    scope: Scope
    points: Sequence[Point]

    def inside(self, name: str, bounds: Bounds) -> _Place:
        return _Place(self.scope.inside(name, bounds), sampled(self.points, name, bounds))

    def never_negative(self, expr: Affine) -> bool:
        if not expr.variables() <= {name for name, _ in self.scope.loops}:
            return False
        if any(expr.evaluate(point) < 0 for point in self.points):
            return False
        least = minimum(expr, self.scope)
        return least is not None and least >= 0


def _walk(block: Any, place: _Place, names: Names) -> None:
    for view in list(block.operations):
        op, inner = view.operation, place
        if op.name == "affine.for":
            old = bounds_of(op, names)
            bounds = _simplified(old, place)
            if bounds != old:
                op = with_bounds(op, bounds, names)
            inner = place.inside(names.of(op.regions[0].blocks[0].arguments[0]), bounds)
        for region in op.regions:
            for inside in region.blocks:
                _walk(inside, inner, names)


def _simplified(bounds: Bounds, place: _Place) -> Bounds:
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
