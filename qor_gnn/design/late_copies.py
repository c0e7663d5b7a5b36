"""Accesses of loops that a tool unrolls without being asked, once it has split arrays (`Access.late`)."""

from __future__ import annotations

from dataclasses import replace

from qor_gnn.design.region import Access, Guard, Loop, Node, Op, Statement, loops_in


def late_copies(loop: Loop) -> tuple[Node, ...]:
    """The body of a loop into which the tool unrolls those inside: their accesses are marked.

    A loop that somebody has unrolled completely is so before arrays are split, and one of a single iteration makes no copies.
    """
    inside = loops_in(loop.body)
    counters = frozenset(x.iv for x in inside if x.unroll != 0 and x.trips.maximum > 1)
    return _marked(loop.body, counters) if counters else loop.body


def _marked(nodes: tuple[Node, ...], counters: frozenset[str]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        match node:
            case Loop() | Guard():
                found.append(replace(node, body=_marked(node.body, counters)))
            case Statement():
                ops = tuple(_load(op, counters) for op in node.ops)
                found.append(replace(node, ops=ops, target=_access(node.target, counters)))
    return tuple(found)


def _load(op: Op, counters: frozenset[str]) -> Op:
    return op if op.access is None else replace(op, access=_access(op.access, counters))


def _access(access: Access, counters: frozenset[str]) -> Access:
    moved = [d for d, i in enumerate(access.indices) if not counters.isdisjoint(i.variables())]
    return replace(access, late=tuple(moved)) if moved else access
