"""Stores that become registers: what no counter of the loop moves, and nothing else may touch."""

from __future__ import annotations

from qor_gnn.body.graph import Graph


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
    by_memory: dict[int, set[int]] = {}
    for a in (*graph.address, *stores):
        if a >= 0:
            by_memory.setdefault(table.shape(a).memory, set()).add(a)
    found = {}
    for address, value in fixed.items():
        shape = table.shape_of[address]
        others = by_memory[table.shapes[shape].memory]
        mixed = [o for o in others if table.shape_of[o] != shape]
        if not any(table.may_alias(o, address) for o in mixed):
            found[address] = value
    return found
