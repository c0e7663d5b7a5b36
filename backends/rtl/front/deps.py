"""Which accesses of a block must keep their order, and across how many iterations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from backends.rtl.front.memory import Access
from backends.rtl.front.scope import Scope, contradict
from backends.rtl.graph import Dep, DepKind


def dependences(accesses: Sequence[Access], scope: Scope, pipelined: bool) -> tuple[Dep, ...]:
    """Pairs of accesses that may touch the same element, at least one of them a store.

    Args:
        accesses: in their order.
        scope: the loops around.
        pipelined: iterations overlap.
    """
    by_array: dict[str, list[Access]] = defaultdict(list)
    for access in accesses:
        by_array[access.array].append(access)
    found: list[Dep] = []
    for group in by_array.values():
        if not any(a.is_store for a in group):
            continue
        for n, a in enumerate(group):
            for m, b in enumerate(group):
                if not (a.is_store or b.is_store):
                    continue
                if n < m:
                    if contradict(a.guard, b.guard) or scope.distinct(a.indices, b.indices):
                        if pipelined:
                            found.append(Dep(a.op, b.op, _kind(a, b), 1))
                    else:
                        found.append(Dep(a.op, b.op, _kind(a, b), 0))
                elif pipelined:
                    found.append(Dep(a.op, b.op, _kind(a, b), 1))
    return tuple(found)


def _kind(a: Access, b: Access) -> DepKind:
    if not a.is_store:
        return DepKind.ANTI
    return DepKind.OUTPUT if b.is_store else DepKind.FLOW
