"""Limits of units that a schedule asks for (``allocation``), as cores of the model and as an interval that they enforce."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qor_gnn.body.body import Body
from qor_gnn.design.region import Loop
from qor_gnn.schedule.reasons import UnitLimit

Asked = Iterable[tuple[str, int]]
"""Operators by the tool's names, each with its limit."""
_TYPES = {"h": "f16", "f": "f32", "d": "f64"}


def asked_of(chain: Iterable[Loop]) -> tuple[tuple[str, int], ...]:
    """The limits of the loops that run as one pipeline: the innermost says it, or the one around."""
    found: dict[str, int] = {}
    for loop in chain:
        found |= dict(loop.requests.allocation)
    return tuple(found.items())


def unit_limit(body: Body, asked: Asked) -> UnitLimit | None:
    """The operator whose operations have to wait longest for its units; None where none has to."""
    found: list[UnitLimit] = []
    for op, limit in asked:
        nodes = _nodes(body, op)
        if len(nodes) > limit:
            names = tuple(dict.fromkeys(body.graph.statement[n].name for n in nodes))
            found.append(UnitLimit(op, limit, len(nodes), names, -(-len(nodes) // limit)))
    return max(found, key=lambda one: one.interval, default=None)


def capped(body: Body, asked: Asked) -> Mapping[str, int]:
    """The most units of each shared core, of those that are limited."""
    found: dict[str, int] = {}
    for op, limit in asked:
        for n in _nodes(body, op):
            operator = body.graph.operator[n]
            if operator is not None and operator.shared:
                found[operator.core] = min(limit, found.get(operator.core, limit))
    return found


def _nodes(body: Body, op: str) -> list[int]:
    """The operations of an operator: of integers whatever their widths are, of floats all that its core does."""
    graph, tool = body.graph, body.personality
    operators = ((n, graph.operator[n]) for n in body.nodes)
    if op in ("add", "sub", "mul"):
        return [n for n, o in operators if o is not None and o.integer and graph.kind[n] == op]
    core = tool.operator(op[1:], _TYPES[op[0]], 32).core
    return [n for n, o in operators if o is not None and not o.integer and o.core == core]
