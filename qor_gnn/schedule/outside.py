"""Arguments in memory outside: the states that a body waits for them, and the words that it passes.

Of one loop or block the requests are one burst, or follow each other without a gap: the tool counts the way to
memory once each time that it is entered (docs/qor-model.md, Memory outside). A port whose memory is slower than a
word a cycle (`Port.pace`, `Port.stall`) holds its pipelines up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD
from qor_gnn.design.port import Port
from qor_gnn.design.region import Memory
from qor_gnn.tools.policies.outside import Outside

Words = Mapping[int, tuple[int, int]]
"""Number of a memory outside to the words of it that an iteration reads, and writes."""


def waiting(body: Body, memories: Sequence[Memory]) -> int:
    """States in which a body that is entered once waits for memory outside."""
    policy = body.personality.outside
    if policy is None or all(m.port is None for m in memories):
        return 0
    read, written = map(set, _accessed(body))
    return _longest(policy, memories, read, policy.read) + _longest(
        policy, memories, written, policy.write
    )


def slowed(body: Body, memories: Sequence[Memory], iterations: float, interval: float) -> float:
    """States by which the memory outside holds up a body.

    Args:
        body: of a pipeline, or of what runs once.
        memories: of the design.
        iterations: of the body.
        interval: states from one iteration to the next.
    """
    ports = [m.port for m in memories]
    if body.personality.outside is None or all(p is None or _ready(p) for p in ports):
        return 0
    most = 0.0
    for memory, words in words_of(body, memories).items():
        port = ports[memory]
        assert port is not None
        for number, pace in zip(words, port.pace, strict=True):
            most = max(most, number * port.stall, number * pace - interval)
    return iterations * most


def words_of(body: Body, memories: Sequence[Memory]) -> Words:
    """The words of memory outside that an iteration of a body reads and writes: of a packed argument those
    of the port, of others elements; each once, and those under a condition as if it always held.
    """
    if body.personality.outside is None:
        return {}
    read, written = map(Counter, _accessed(body))
    touched = sorted({*read, *written})
    return {n: (read[n], written[n]) for n in touched if memories[n].port is not None}


def _accessed(body: Body) -> tuple[list[int], list[int]]:
    """The memory of each address that a body loads, and of each that it stores to."""
    graph, table = body.graph, body.graph.addresses
    accesses = zip(graph.kind, graph.address, strict=True)
    read = {a for kind, a in accesses if kind == LOAD and a >= 0}
    kept = [graph.address[n] for n in graph.early_stores]
    stored = {*body.store_value, *body.conditional, *body.registers, *kept}
    return [table.shape(a).memory for a in read], [table.shape(a).memory for a in stored]


def _ready(port: Port) -> bool:
    return port.pace == (1.0, 1.0) and not port.stall


def _longest(policy: Outside, memories: Sequence[Memory], touched: set[int], own: int) -> int:
    """Of the ports that are waited for at the same time."""
    ports = [port for n in touched if (port := memories[n].port) is not None]
    return max((own + _latency(policy, port) for port in ports), default=0)


def _latency(policy: Outside, port: Port) -> int:
    return policy.latency if port.latency < 0 else port.latency
