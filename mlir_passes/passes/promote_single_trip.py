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
from mlir_passes.dialect.attributes import loop_info, top_function
from mlir_passes.loop_bounds import Names, bounds_of, condition_of
from mlir_passes.rewrite import (
    blocks_in,
    control_in,
    inline_before,
    with_bounds,
    with_condition,
    with_subscripts,
    without_loop,
)
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.simplify.single_trip import only_value

_STORES = ("affine.store", "memref.store")
_MAPPED = frozenset({"affine.load", "affine.store", "affine.apply"})


@dataclass(frozen=True, slots=True)
class PromoteSingleTrip:
    """Loops whose only iteration is known at compile time become straight code."""

    name: ClassVar[str] = "promote-single-trip"

    def apply(self, module: Any) -> bool:
        """Change the module in place; says whether anything was changed."""
        with module.context:
            return _walk(top_function(module).regions[0].blocks[0], Names())


def _walk(block: Any, names: Names) -> bool:
    """Outer loops first: what they leave in the bounds of inner ones may be a single iteration."""
    changed = False
    pending = control_in(block)[::-1]
    while pending:
        op = pending.pop()
        value = _only_value(op, names) if op.name == "affine.for" else None
        if value is not None:
            pending += _promoted(op, value, names)[::-1]
            changed = True
            continue
        for inside in blocks_in(op):
            changed |= _walk(inside, names)
    return changed


def _only_value(loop: Any, names: Names) -> Affine | None:
    """The value of its variable, where its body can stand for it. Proven independence says nothing
    of one iteration."""
    info = loop_info(loop)
    return only_value(bounds_of(loop, names), info.ii, info.unroll, info.flatten, info.requests)


def _promoted(loop: Any, value: Affine, names: Names) -> list[Any]:
    """The loops and guards of the loop's body, which now stand where it stood."""
    body = loop.regions[0].blocks[0]
    iv = body.arguments[0]
    for store in _stores(body):
        without_loop(store, loop, value, names)
    _substitute(body, iv, names.of(iv), value, names)
    found = control_in(body)
    inline_before(body, loop)
    names.forget(iv)
    loop.erase()
    return found


def _stores(block: Any) -> Iterator[Any]:
    for view in block.operations:
        op = view.operation
        if op.name in _STORES:
            yield op
        for inner in blocks_in(op):
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
        for inner in blocks_in(op):
            _substitute(inner, iv, name, value, names)


def _in_bounds(bounds: Bounds, name: str, value: Affine) -> Bounds:
    return Bounds(
        tuple(e.substitute({name: value}) for e in bounds.lowers),
        tuple(e.substitute({name: value}) for e in bounds.uppers),
        bounds.step,
    )


def _in_constraint(constraint: Constraint, name: str, value: Affine) -> Constraint:
    return Constraint(constraint.expr.substitute({name: value}), constraint.kind)
