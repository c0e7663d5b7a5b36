"""Sums that need no register of their own: what one iteration leaves, the next one takes.

``r = select(first, start, r) + x`` as a load and a store of a register costs the recurrence a cycle
for the write. Where only this pipeline has the register, and the first iteration does not read it,
the sum goes back to the selection by itself.
"""

from __future__ import annotations

from collections import Counter as Count

from backends.rtl.graph import (
    Block,
    Counter,
    DepKind,
    Graph,
    Kind,
    Memory,
    Op,
    Pipeline,
    Straight,
    walk,
)
from dsl.expressions.affine import Affine


def accesses(graph: Graph) -> Count[tuple[str, int | None]]:
    """How many operations access each bank; None stands for all banks of an array."""
    count: Count[tuple[str, int | None]] = Count()
    for region in walk(graph.body):
        if isinstance(region, Straight | Pipeline):
            for op in region.block.ops:
                if op.place is not None:
                    count[op.place.array, op.place.bank] += 1
    return count


def taken_back(
    graph: Graph,
    counters: tuple[Counter, ...],
    block: Block,
    count: Count[tuple[str, int | None]],
) -> dict[int, int]:
    """The loads of a pipeline that take the value of a store of the iteration before.

    Args:
        graph: With the arrays.
        counters: Of the pipeline.
        block: Of the pipeline.
        count: From `accesses`.
    """
    found: dict[int, int] = {}
    for dep in block.deps:
        load, store = block.ops[dep.dst], block.ops[dep.src]
        if dep.kind is not DepKind.FLOW or dep.distance != 1 or load.id > store.id:
            continue
        if _alone(graph, load, store, count) and _first_selects(counters, block, load.id):
            found[load.id] = store.id
    return found


def _alone(graph: Graph, load: Op, store: Op, count: Count[tuple[str, int | None]]) -> bool:
    """Whether nothing but these two has the register, and the store always writes it."""
    a, b = load.place, store.place
    assert a is not None
    assert b is not None
    array = graph.array(a.array)
    if array.argument or array.memory is not Memory.REGISTERS or store.guard:
        return False
    mine = a.bank is not None and a.bank == b.bank
    return mine and count[a.array, a.bank] == 2 and not count[a.array, None]


def _first_selects(counters: tuple[Counter, ...], block: Block, load: int) -> bool:
    """Whether the first iteration selects something else wherever the load is used."""
    zero = {c.iv: Affine() for c in counters}
    for op in block.ops:
        if not any(use.op == load for use in op.operands):
            continue
        if op.kind is not Kind.SELECT or any(use.op == load for use in op.operands[:2]):
            return False
        condition = block.ops[op.operands[0].op]
        if condition.kind is not Kind.HOLDS:
            return False
        for constraint in condition.guard:
            at_first = constraint.expr.substitute(zero)
            right = at_first.const == 0 if constraint.kind == "==" else at_first.const >= 0
            if not at_first.is_const or not right:
                return False
    return True
