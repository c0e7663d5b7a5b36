"""The critical path of a scheduled body: what each operation on it waited for."""

from __future__ import annotations

from qor_gnn.body.body import Body
from qor_gnn.body.graph import LOAD, STORE
from qor_gnn.schedule.list_schedule import Times
from qor_gnn.schedule.reasons import Step


def critical_path(body: Body, times: Times) -> tuple[Step, ...]:
    """From the first state of an iteration to the last, along operations that wait for another.

    An operation that starts later than its operands allow waits for a port or a unit: the path
    goes on with the operand that came last.
    """
    if not times.start:
        return ()
    node = max(times.start, key=lambda n: (times.start[n] + body.last(n), -n))
    steps: list[Step] = []
    while True:
        steps.append(_step(body, times, node))
        waited = [(times.start[b] + d, -b) for b, d in body.preds[node] if b in times.start]
        if not waited:
            break
        node = -max(waited)[1]
    return tuple(steps[::-1])


def _step(body: Body, times: Times, node: int) -> Step:
    graph = body.graph
    kind = graph.kind[node]
    text = kind
    if kind in (LOAD, STORE):
        text = f"{kind} {body.addresses.text(graph.address[node])}"
    return Step(text, graph.statement[node].name, times.start[node], body.last(node))
