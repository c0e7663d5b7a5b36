"""Accesses at subscripts that are values: which element, and what it moves with.

A subscript is named by the operation that computes it (``?12``), or by what it takes from outside
(``?-3``): accesses of the same values are of the same element, all others may be of any. No bank of such an
access is known. A value that is computed of counters alone has no operand in the body, yet it moves with them, and so do
loads at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dsl.expressions.affine import Affine
from qor_gnn.body.graph import Graph
from qor_gnn.design.region import Access

_NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class SubscriptValues:
    """The counters that values of a body move with, by number."""

    counters: dict[int, frozenset[str]] = field(default_factory=dict)

    def computed(self, graph: Graph, node: int, operands: Sequence[int]) -> None:
        """Remember those of an operation's result."""
        moved = self._of(operands)
        if moved:
            self.counters[node] = graph.indexed[node] = moved

    def _of(self, values: Sequence[int]) -> frozenset[str]:
        return _NONE.union(*(self.counters.get(v, _NONE) for v in values))

    def loaded(self, graph: Graph, node: int, data: Sequence[int]) -> None:
        """Remember those of a load at subscripts ``data``."""
        moved = self._of(data)
        if moved:
            self.counters[node] = graph.indexed[node] = graph.indexed.get(node, _NONE) | moved


def named(access: Access, data: Sequence[int]) -> Access:
    """The access with its subscripts that are values called by their numbers."""
    given = iter(data)
    indices = (Affine.of(f"?{next(given)}") if e.is_data else e for e in access.indices)
    return replace(access, indices=tuple(indices))
