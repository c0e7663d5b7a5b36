"""Operands that every pass of a loop computes anew, and those at borders that nobody writes.

In steps of a stencil ``x[i] * c`` is another value in each step where a statement writes ``x[i]``; at a border that
none writes it is the same in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import islpy as isl

from dsl.expressions.expr import Access
from polyhedral.scop.scop import Scop


def untouched(scop: Scop, name: str, read: Iterable[Access]) -> int:
    """At most so many iterations of a statement read no element that any statement writes.

    Args:
        scop: the program.
        name: of the statement.
        read: what it reads.
    """
    statement = scop.statement(name)
    rest = statement.domain
    for access in read:
        made = [
            scop.access_map(other, other.stmt.target).range()
            for other in scop.statements
            if other.stmt.target.array == access.array
        ]
        if made:
            written = reduce(isl.Set.union, made)
            rest = rest.subtract(
                scop.access_map(statement, access).intersect_range(written).domain()
            )
    return sum(_box(part) for part in rest.coalesce().get_basic_sets())


def _box(part: isl.BasicSet) -> int:
    points, found = part.to_set(), 1
    for k in range(points.dim(isl.dim_type.set)):
        found *= points.dim_max_val(k).to_python() - points.dim_min_val(k).to_python() + 1
    return found
