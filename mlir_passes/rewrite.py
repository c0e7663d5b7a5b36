"""Rebuilding ops with other maps or operands: the bindings cannot change an op's operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dsl.expressions.affine import Affine, Constraint
from mlir_passes.affine_maps import from_map, to_map, to_map_of, to_set
from mlir_passes.dialect.attributes import loop_attributes, loop_info
from mlir_passes.dialect.copies import fitted
from mlir_passes.loop_bounds import Names
from mlir_passes.provider import ir
from polyhedral.looptree.bounds import Bounds


def rebuilt(op: Any, operands: Sequence[Any], changed: Mapping[str, Any | None]) -> Any:
    """The op with other operands and some attributes set or (None) dropped; the old one is gone.

    Its regions move to the new op, and its uses see that one's results.
    """
    attributes = {name: op.attributes[name] for name in op.attributes}
    for name, attribute in changed.items():
        if attribute is None:
            attributes.pop(name, None)
        else:
            attributes[name] = attribute
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create(
            op.name,
            results=[r.type for r in op.results],
            operands=list(operands),
            attributes=attributes,
            regions=len(op.regions),
        )
    for old_region, new_region in zip(op.regions, new.regions, strict=True):
        for block in list(old_region.blocks):
            block.append_to(new_region)
    for old_result, new_result in zip(op.results, new.results, strict=True):
        old_result.replace_all_uses_with(new_result)
    op.erase()
    return new.operation


def with_bounds(loop: Any, bounds: Bounds, names: Names) -> Any:
    """An ``affine.for`` with other bounds; annotations that they make pointless are dropped."""
    values = names.values()
    lower, lower_operands = to_map(bounds.lowers, values)
    upper, upper_operands = to_map(bounds.uppers, values)
    sizes = [len(lower_operands), len(upper_operands), 0]
    changed: dict[str, Any | None] = {
        "lowerBoundMap": ir.AffineMapAttr.get(lower),
        "upperBoundMap": ir.AffineMapAttr.get(upper),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(sizes),
    }
    info = loop_info(loop)
    new = fitted(
        replace(info, trip_count=None if bounds.are_constant else info.trip_count),
        bounds.trip_count,
    )
    written = loop_attributes(new)
    changed |= {name: written.get(name) for name in loop_attributes(info)}
    return rebuilt(loop, [*lower_operands, *upper_operands], changed)


def with_condition(op: Any, constraints: Sequence[Constraint], names: Names) -> Any:
    """An ``affine.if`` with another condition."""
    condition, operands = to_set(constraints, names.values())
    return rebuilt(op, operands, {"condition": ir.IntegerSetAttr.get(condition)})


def with_subscripts(op: Any, names: Names, variable: str, value: Affine) -> Any:
    """An ``affine.load``, ``store`` or ``apply`` whose map has a variable replaced."""
    count = op.attributes["map"].value.n_inputs
    split = len(op.operands) - count
    operands = list(op.operands)
    exprs = from_map(op.attributes["map"].value, [names.of(x) for x in operands[split:]])
    affine_map, indices = to_map([e.substitute({variable: value}) for e in exprs], names.values())
    for result in op.results:
        names.forget(result)
    return rebuilt(op, [*operands[:split], *indices], {"map": ir.AffineMapAttr.get(affine_map)})


_CONTROL = frozenset({"affine.for", "affine.if"})


def control_in(block: Any) -> list[Any]:
    """The loops and guards right inside of a block."""
    return [view.operation for view in block.operations if view.operation.name in _CONTROL]


def blocks_in(op: Any) -> list[Any]:
    """The blocks right inside of an op: a loop's body, the branches of a guard."""
    return [block for region in op.regions for block in region.blocks]


def loops_around(op: Any) -> list[Any]:
    """The ``affine.for`` around an op, outermost first."""
    found: list[Any] = []
    around = op.operation.parent
    while around is not None and around.name != "func.func":
        if around.name == "affine.for":
            found.append(around)
        around = around.operation.parent
    return found[::-1]


def without_loop(store: Any, loop: Any, value: Affine, names: Names) -> None:
    """Say of a store which iteration of its statement it is without a loop that is about to go.

    Args:
        store: an ``affine.store`` or ``memref.store`` below the loop.
        loop: the ``affine.for``.
        value: what its variable is.
        names: of the variables.
    """
    if "hls.iteration" not in store.attributes:
        return
    around = [names.of(each.regions[0].blocks[0].arguments[0]) for each in loops_around(store)]
    gone = names.of(loop.regions[0].blocks[0].arguments[0])
    exprs = from_map(store.attributes["hls.iteration"].value, around)
    kept = [name for name in around if name != gone]
    new = to_map_of([e.substitute({gone: value}) for e in exprs], kept)
    store.attributes["hls.iteration"] = ir.AffineMapAttr.get(new)


def inline_before(block: Any, op: Any) -> None:
    """Move a block's ops, but its terminator, in front of an op."""
    for inner in list(block.operations)[:-1]:
        inner.operation.move_before(op)
