"""Arguments in memory outside: the states that a body waits for them.

Of one loop or block the requests are one burst, or follow each other without a gap: the tool counts the way to
memory once each time that it is entered (docs/qor-model.md, Memory outside).
"""

from __future__ import annotations

from collections.abc import Sequence

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD
from qor_gnn.design.region import Memory, Port
from qor_gnn.tools.policies.outside import Outside


def waiting(body: Body, memories: Sequence[Memory]) -> int:
    """States in which a body that is entered once waits for memory outside."""
    policy = body.personality.outside
    if policy is None or all(m.port is None for m in memories):
        return 0
    graph, table = body.graph, body.graph.addresses
    accesses = zip(graph.kind, graph.address, strict=True)
    read = {table.shape(a).memory for kind, a in accesses if kind == LOAD and a >= 0}
    kept = [graph.address[n] for n in graph.early_stores]
    stored = {*body.store_value, *body.conditional, *body.registers, *kept}
    written = {table.shape(a).memory for a in stored}
    return _longest(policy, memories, read, policy.read) + _longest(
        policy, memories, written, policy.write
    )


def _longest(policy: Outside, memories: Sequence[Memory], touched: set[int], own: int) -> int:
    """Of the ports that are waited for at the same time."""
    ports = [port for n in touched if (port := memories[n].port) is not None]
    return max((own + _latency(policy, port) for port in ports), default=0)


def _latency(policy: Outside, port: Port) -> int:
    return policy.latency if port.latency < 0 else port.latency
