"""Stores that become registers: what no counter of the loop moves, and nothing else may touch."""

from __future__ import annotations

from dataclasses import dataclass, field

from qor_gnn.body.graph import Graph
from qor_gnn.memory.addresses import Addresses


def promotable(graph: Graph, moving: frozenset[str]) -> dict[int, int]:
    """Stored addresses that no counter in ``moving`` moves, and that nothing else may touch.

    What is stored in its place among the accesses of an iteration stays in memory: loads behind it take
    that value, not the register's of the iteration before.
    """
    table = graph.addresses
    stores = {a: c.value for a, c in graph.conditional.items()} | graph.stores
    made = {graph.address[n] for n in graph.early_stores}
    fixed = {
        a: v
        for a, v in stores.items()
        if a not in made
        and a not in graph.places  # each iteration may store another element
        and not (table.moves(a, moving) or table.memory(a).in_order)
    }
    if not fixed:
        return {}
    others = _Others(table)
    for a in {*graph.address, *stores}:
        if a >= 0:
            others.add(a)
    return {address: value for address, value in fixed.items() if not others.may_meet(address)}


@dataclass(slots=True)
class _Others:
    """The addresses of an iteration, by memory and by shape."""

    table: Addresses
    _of: dict[int, dict[int, list[int]]] = field(default_factory=dict)
    _met: dict[tuple[int, int], set[tuple[int, ...]]] = field(default_factory=dict)

    def add(self, address: int) -> None:
        """Note an address."""
        shape = self.table.shape_of[address]
        self._of.setdefault(self.table.shapes[shape].memory, {}).setdefault(shape, []).append(
            address
        )

    def may_meet(self, address: int) -> bool:
        """Whether one of another shape can be the same element."""
        table, own = self.table, self.table.shape_of[address]
        for shape, addresses in self._of[table.shapes[own].memory].items():
            if shape == own:
                continue
            apart = table.apart(shape, own)
            met = self._met.get((shape, own))
            if met is None:
                met = self._met[shape, own] = {table.where(a, apart) for a in addresses}
            if table.where(address, apart) in met:
                return True
        return False
