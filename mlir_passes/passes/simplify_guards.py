"""Drop the constraints of guards that always hold, and what can never run.

::

    for i = 0 to 8:                                for i = 0 to 8:
      if i >= 0 and 5 - i >= 0: S        →           if 5 - i >= 0: S
      if i - 9 >= 0: T
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dsl.expressions.affine import Constraint
from mlir_passes.dialect.attributes import top_function
from mlir_passes.extremes import Scope, maximum, minimum
from mlir_passes.loop_bounds import Names, bounds_of, condition_of
from mlir_passes.rewrite import inline_before, with_condition


@dataclass(frozen=True, slots=True)
class SimplifyGuards:
    """Remove dead guards, dead branches and loops that never run."""

    name: ClassVar[str] = "simplify-guards"

    def apply(self, module: Any) -> None:
        """Change the module in place."""
        with module.context:
            _walk(top_function(module).regions[0].blocks[0], Scope(), Names())


def _walk(block: Any, scope: Scope, names: Names) -> None:
    for view in list(block.operations):
        op = view.operation
        if op.name == "affine.for":
            bounds = bounds_of(op, names)
            if bounds.trip_count == 0:
                op.erase()
                continue
            body = op.regions[0].blocks[0]
            _walk(body, scope.inside(names.of(body.arguments[0]), bounds), names)
            if len(body.operations) == 1:
                op.erase()
        elif op.name == "affine.if":
            _guard(op, scope, names)


def _guard(op: Any, scope: Scope, names: Names) -> None:
    branches = [region.blocks[0] for region in op.regions if len(region.blocks)]
    for branch in branches:
        _walk(branch, scope, names)
    constraints = condition_of(op, names)
    verdicts = [_verdict(c, scope) for c in constraints]
    if False in verdicts:
        if len(branches) == 2:
            inline_before(branches[1], op)
        op.erase()
    elif all(verdicts):
        inline_before(branches[0], op)
        op.erase()
    elif all(len(branch.operations) == 1 for branch in branches):
        op.erase()
    elif True in verdicts:
        kept = [c for c, v in zip(constraints, verdicts, strict=True) if v is None]
        with_condition(op, kept, names)


def _verdict(constraint: Constraint, scope: Scope) -> bool | None:
    """Whether it always (True) or never (False) holds; None: it depends."""
    least, most = minimum(constraint.expr, scope), maximum(constraint.expr, scope)
    if constraint.kind == ">=":
        if least is not None and least >= 0:
            return True
        return False if most is not None and most < 0 else None
    if least == 0 and most == 0:
        return True
    outside = (least is not None and least > 0) or (most is not None and most < 0)
    return False if outside else None
