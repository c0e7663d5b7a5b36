"""Drop the bounds of a loop that another bound makes redundant.

::

    for i = 0 to 3:                              for i = 0 to 3:
      for j = 32*i to min(32*i + 32, 100):   →     for j = 32*i to 32*i + 32:
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_passes.dialect.attributes import top_function
from mlir_passes.loop_bounds import Names, bounds_of
from mlir_passes.rewrite import blocks_in, control_in, with_bounds
from polyhedral.looptree.simplify.bounds import Place, simplified_bounds


@dataclass(frozen=True, slots=True)
class SimplifyBounds:
    """Keep of ``max(...)`` and ``min(...)`` only what can be the largest or smallest."""

    name: ClassVar[str] = "simplify-bounds"

    def apply(self, module: Any) -> bool:
        """Change the module in place; says whether anything was changed."""
        with module.context:
            body = top_function(module).regions[0].blocks[0]
            return _has_choice(body) and _walk(body, Place(), Names())


def _has_choice(block: Any) -> bool:
    """Whether a loop below has more than one lower or upper bound: most kernels have none."""
    for op in control_in(block):
        if op.name == "affine.for":
            maps = (op.attributes["lowerBoundMap"].value, op.attributes["upperBoundMap"].value)
            if any(len(m.results) > 1 for m in maps):
                return True
        if any(_has_choice(inside) for inside in blocks_in(op)):
            return True
    return False


def _walk(block: Any, place: Place, names: Names) -> bool:
    changed = False
    for op in control_in(block):
        inner, new = place, op
        if op.name == "affine.for":
            old = bounds_of(op, names)
            bounds = simplified_bounds(old, place)
            new = op if bounds == old else with_bounds(op, bounds, names)
            changed |= bounds != old
            inner = place.inside(names.of(new.regions[0].blocks[0].arguments[0]), bounds)
        for inside in blocks_in(new):
            changed |= _walk(inside, inner, names)
    return changed
