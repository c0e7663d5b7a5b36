"""Drop the constraints of guards that always hold, and what can never run.

::

    for i = 0 to 8:                                for i = 0 to 8:
      if i >= 0 and 5 - i >= 0: S        →           if 5 - i >= 0: S
      if i - 9 >= 0: T
      if i - 5 >= 0:
        if 4 - i >= 0: U
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_passes.dialect.attributes import top_function
from mlir_passes.loop_bounds import Names, bounds_of, condition_of
from mlir_passes.rewrite import blocks_in, control_in, inline_before, with_condition
from polyhedral.looptree.extremes import Scope
from polyhedral.looptree.simplify.guards import undecided


@dataclass(frozen=True, slots=True)
class SimplifyGuards:
    """Remove dead guards, dead branches and loops that never run."""

    name: ClassVar[str] = "simplify-guards"

    def apply(self, module: Any) -> bool:
        """Change the module in place; says whether anything was changed."""
        with module.context:
            return _walk(top_function(module).regions[0].blocks[0], Scope(), Names())


def _walk(block: Any, scope: Scope, names: Names) -> bool:
    changed = False
    for op in control_in(block):
        if op.name == "affine.for":
            changed |= _loop(op, scope, names)
        else:
            changed |= _guard(op, scope, names)
    return changed


def _loop(op: Any, scope: Scope, names: Names) -> bool:
    bounds = bounds_of(op, names)
    body = op.regions[0].blocks[0]
    changed = False
    if bounds.trip_count != 0:
        changed = _walk(body, scope.inside(names.of(body.arguments[0]), bounds), names)
        if len(body.operations) > 1:
            return changed
    op.erase()
    return True


def _guard(op: Any, scope: Scope, names: Names) -> bool:
    branches = blocks_in(op)
    changed = False
    constraints = condition_of(op, names)
    left = undecided(constraints, scope)
    for number, branch in enumerate(branches):
        held = scope.under(left) if left and not number else scope
        changed |= _walk(branch, held, names)
    if left is None:
        if len(branches) == 2:
            inline_before(branches[1], op)
        op.erase()
    elif not left:
        inline_before(branches[0], op)
        op.erase()
    elif all(len(branch.operations) == 1 for branch in branches):
        op.erase()
    elif len(left) < len(constraints):
        with_condition(op, left, names)
    else:
        return changed
    return True
