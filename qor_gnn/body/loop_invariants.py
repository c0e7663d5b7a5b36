"""Whether a load of a loop gives the same word in every iteration: what else the loop stores, and when it runs."""

from __future__ import annotations

from collections.abc import Collection

from qor_gnn.body.graph import Graph
from qor_gnn.memory.addresses import Addresses


def around_inner_loop(graph: Graph, variables: tuple[str, ...], node: int) -> bool:
    """It is of a statement around the innermost loop of a flattened nest, which is under a guard."""
    if len(variables) < 2:
        return False
    statement = graph.statement[node]
    accesses = (statement.target, *(op.access for op in statement.ops if op.access is not None))
    moved = {v for access in accesses for index in access.indices for v in index.variables()}
    return variables[-1] not in moved


def written(graph: Graph, registers: Collection[int]) -> dict[int, list[int]]:
    """Addresses stored in every iteration, by memory."""
    found: dict[int, list[int]] = {}
    table = graph.addresses
    early = (graph.address[n] for n in graph.early_stores)
    for a in (*graph.stores, *graph.conditional, *early):
        if a not in registers:
            found.setdefault(table.shape(a).memory, []).append(a)
    return found


def overwritten(table: Addresses, address: int, written: dict[int, list[int]]) -> bool:
    """Whether a load's element may be stored in the loop."""
    stores = written.get(table.shape(address).memory, ())
    return any(o == address or table.may_alias(o, address) for o in stores)
