"""Drop the bounds of a loop that another bound makes redundant.

::

    for i = 0 to 3:                              for i = 0 to 3:
      for j = 32*i to min(32*i + 32, 100):   →     for j = 32*i to 32*i + 32:
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dsl.affine import Affine
from mlir_passes.dialect import top_function
from mlir_passes.extremes import Scope, minimum
from mlir_passes.loop_bounds import Bounds, Names, bounds_of
from mlir_passes.rewrite import with_bounds


@dataclass(frozen=True, slots=True)
class SimplifyBounds:
    """Keep of ``max(...)`` and ``min(...)`` only what can be the largest or smallest."""

    name: ClassVar[str] = "simplify-bounds"

    def apply(self, module: Any) -> None:
        """Change the module in place."""
        with module.context:
            _walk(top_function(module).regions[0].blocks[0], Scope(), Names())


def _walk(block: Any, scope: Scope, names: Names) -> None:
    for view in list(block.operations):
        op, inner = view.operation, scope
        if op.name == "affine.for":
            bounds = _simplified(bounds_of(op, names), scope)
            if bounds != bounds_of(op, names):
                op = with_bounds(op, bounds, names)
            variable = names.of(op.regions[0].blocks[0].arguments[0])
            inner = scope.inside(variable, bounds)
        for region in op.regions:
            for inside in region.blocks:
                _walk(inside, inner, names)


def _simplified(bounds: Bounds, scope: Scope) -> Bounds:
    if len(bounds.lowers) == len(bounds.uppers) == 1:
        return bounds
    return replace(
        bounds,
        lowers=_kept(bounds.lowers, lambda a, b: _never_negative(a - b, scope)),
        uppers=_kept(bounds.uppers, lambda a, b: _never_negative(b - a, scope)),
    )


def _never_negative(expr: Affine, scope: Scope) -> bool:
    least = minimum(expr, scope)
    return least is not None and least >= 0


def _kept(exprs: Sequence[Affine], counts: Callable[[Affine, Affine], bool]) -> tuple[Affine, ...]:
    """Those that no other one stands for; of equal ones the first."""
    kept: list[Affine] = []
    for n, expr in enumerate(exprs):
        others = (*kept, *exprs[n + 1 :])
        if not any(counts(other, expr) for other in others):
            kept.append(expr)
    return tuple(kept)
