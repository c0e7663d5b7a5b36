"""Replace loop variables in a region tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dsl.affine import Affine, Constraint
from qor_gnn.region import Access, Guard, Loop, Node, Op, Statement


def substituted(node: Node, values: Mapping[str, Affine]) -> Node:
    """The node with every use of the variables replaced."""
    match node:
        case Loop():
            return replace(
                node,
                lowers=tuple(b.substitute(values) for b in node.lowers),
                uppers=tuple(b.substitute(values) for b in node.uppers),
                body=tuple(substituted(n, values) for n in node.body),
            )
        case Guard(constraints, body):
            held = tuple(Constraint(c.expr.substitute(values), c.kind) for c in constraints)
            return Guard(held, tuple(substituted(n, values) for n in body))
        case Statement():
            ops = tuple(_op(op, values) for op in node.ops)
            return replace(node, ops=ops, target=_access(node.target, values))


def _op(op: Op, values: Mapping[str, Affine]) -> Op:
    return op if op.access is None else replace(op, access=_access(op.access, values))


def _access(access: Access, values: Mapping[str, Affine]) -> Access:
    return Access(access.memory, tuple(i.substitute(values) for i in access.indices))
