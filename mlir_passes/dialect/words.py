"""Packed arguments of level 3: each access is a lane of a word, in a loop that goes over the lanes.

Such a loop is unrolled completely and counts from 0. Conditions inside of it may leave out the last lanes; of what is
stored those alone that are padding. What is behind a word in C++ and in RTL is one access of the port: the loop
distributes, or collects, its lanes, and stores words of an argument in one place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dsl.errors.errors import IRError
from dsl.expressions.affine import Affine, Constraint
from mlir_passes.affine_maps import from_map
from mlir_passes.dialect.attributes import argument_infos, loop_info, span_of
from mlir_passes.loop_bounds import Names, bounds_of, condition_of
from polyhedral.looptree.bounds import Bounds

_STORES = ("affine.store", "memref.store")
_AT_DATA = ("memref.load", "memref.store")
_ACCESSES = ("affine.load", *_STORES, "memref.load")


def verify_words(function: Any) -> None:
    """Check the accesses to packed arguments.

    Raises:
        IRError: W340.
    """
    entry = function.regions[0].blocks[0]
    infos = zip(argument_infos(function), entry.arguments, strict=True)
    packed = {value: info.axi.lanes for info, value in infos if info.axi.lanes}
    if packed:
        _block(entry, _Around(), packed, Names())


@dataclass(slots=True)
class _Around:
    """The innermost loop, the conditions inside of it, and what is stored there so far."""

    loop: Any | None = None
    conditions: tuple[Constraint, ...] = ()
    stored: set[Any] = field(default_factory=set)


def _block(block: Any, around: _Around, packed: dict[Any, int], names: Names) -> None:
    for view in block.operations:
        op = view.operation
        if op.name in _ACCESSES:
            operands = list(op.operands)[op.name in _STORES :]
            if (lanes := packed.get(operands[0])) is not None:
                _check(op, operands, around, lanes, names)
        inner = around
        if op.name == "affine.for":
            inner = _Around(op)
        elif op.name == "affine.if":
            conditions = (*around.conditions, *condition_of(op, names))
            inner = _Around(around.loop, conditions, around.stored)
        for region in op.regions:
            for each in region.blocks:
                _block(each, inner, packed, names)


def _check(op: Any, operands: list[Any], around: _Around, lanes: int, names: Names) -> None:
    memory, *subscripts = operands
    if op.name not in _AT_DATA and (loop := around.loop) is not None:
        counter = names.of(loop.regions[0].blocks[0].arguments[0])
        *others, last = from_map(op.attributes["map"].value, [names.of(x) for x in subscripts])
        word = last - Affine.of(counter)
        apart = all(counter not in e.variables() for e in (*others, word))
        whole = word.const % lanes == 0 and all(c % lanes == 0 for _, c in word.terms)
        bounds = bounds_of(loop, names)
        upto = [Constraint(b - Affine.of(counter) - 1) for b in bounds.uppers]
        left_out = [c for c in (*around.conditions, *upto) if counter in c.expr.variables()]
        fits = all(_leaves_out_last(c, counter) for c in left_out)
        if op.name == "affine.store" and fits:
            # What a word has of an element that is not assigned would be lost: padding alone is no element.
            row = int(memory.type.shape[-1])
            padding = (Affine((), row - 1) - last, Affine((), lanes - 1) - Affine.of(counter))
            fits = memory not in around.stored and all(c.expr in padding for c in left_out)
        if apart and whole and fits and _goes_over_lanes(loop, bounds, lanes):
            if op.name == "affine.store":
                around.stored.add(memory)
            return
    raise IRError(
        "W340",
        f"an access to a packed argument is no lane of a word of {lanes} elements",
        span=span_of(op),
        help="the innermost loop around it is unrolled completely, and counts the lanes from 0",
    )


def _leaves_out_last(condition: Constraint, counter: str) -> bool:
    """Whether a condition on lanes holds for the first ones of a word, if for any."""
    linear = condition.expr.is_linear
    return condition.kind == ">=" and linear and condition.expr.coefficient(counter) < 0


def _goes_over_lanes(loop: Any, bounds: Bounds, lanes: int) -> bool:
    uppers = [b.const for b in bounds.uppers if b.is_const]
    from_zero = all(b == Affine() for b in bounds.lowers)
    unrolled = loop_info(loop).unroll == 0 and bounds.step == 1
    return unrolled and from_zero and bool(uppers) and min(uppers) <= lanes
