"""Replace a loop of one iteration by its body, unless something is asked of the loop.

::

    for i = 0 to 4:              for i = 0 to 4:
      for j = i to i + 1:    →     A[i, i + 2] = ...
        A[i, j + 2] = ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from dsl.expressions.affine import Affine, Constraint
from mlir_passes.dialect.attributes import LoopInfo, loop_info, top_function
from mlir_passes.loop_bounds import Bounds, Names, bounds_of, condition_of
from mlir_passes.rewrite import (
    inline_before,
    with_bounds,
    with_condition,
    with_subscripts,
    without_loop,
)

_MAPPED = frozenset({"affine.load", "affine.store", "affine.apply"})


@dataclass(frozen=True, slots=True)
class PromoteSingleTrip:
    """Loops whose only iteration is known at compile time become straight code."""

    name: ClassVar[str] = "promote-single-trip"

    def apply(self, module: Any) -> None:
        """Change the module in place."""
        with module.context:
            _walk(top_function(module).regions[0].blocks[0], Names())


def _walk(block: Any, names: Names) -> None:
    for view in list(block.operations):
        op = view.operation
        for region in op.regions:
            for inner in region.blocks:
                _walk(inner, names)
        if op.name == "affine.for" and _is_plain(loop_info(op)):
            bounds = bounds_of(op, names)
            if bounds.trip_count == 1 and len(bounds.lowers) == 1:
                _promote(op, bounds.lowers[0], names)


def _is_plain(info: LoopInfo) -> bool:
    """Nothing is asked of it. Proven independence says nothing of one iteration."""
    return info.ii is None and info.unroll is None and info.flatten is None


def _promote(loop: Any, value: Affine, names: Names) -> None:
    body = loop.regions[0].blocks[0]
    iv = body.arguments[0]
    for store in _stores(body):
        without_loop(store, loop, value, names)
    _substitute(body, iv, names.of(iv), value, names)
    inline_before(body, loop)
    names.forget(iv)
    loop.erase()


def _stores(block: Any) -> Iterator[Any]:
    for view in block.operations:
        op = view.operation
        if op.name == "affine.store":
            yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from _stores(inner)


def _substitute(block: Any, iv: Any, name: str, value: Affine, names: Names) -> None:
    """Write the value for the induction variable in every op of the block and below."""
    for view in list(block.operations):
        op = view.operation
        if iv in list(op.operands):
            if op.name == "affine.for":
                op = with_bounds(op, _in_bounds(bounds_of(op, names), name, value), names)
            elif op.name == "affine.if":
                found = [_in_constraint(c, name, value) for c in condition_of(op, names)]
                op = with_condition(op, found, names)
            elif op.name in _MAPPED:
                op = with_subscripts(op, names, name, value)
            else:
                raise TypeError(f"{op.name} takes an induction variable")
        for region in op.regions:
            for inner in region.blocks:
                _substitute(inner, iv, name, value, names)


def _in_bounds(bounds: Bounds, name: str, value: Affine) -> Bounds:
    return Bounds(
        tuple(e.substitute({name: value}) for e in bounds.lowers),
        tuple(e.substitute({name: value}) for e in bounds.uppers),
        bounds.step,
    )


def _in_constraint(constraint: Constraint, name: str, value: Affine) -> Constraint:
    return Constraint(constraint.expr.substitute({name: value}), constraint.kind)
