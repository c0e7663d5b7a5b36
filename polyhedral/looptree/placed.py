"""Nodes of a loop tree with variables of loops around them replaced: one copy of an unrolled body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from dsl.expressions.affine import Affine, Constraint
from polyhedral.looptree.tree import Instance, TreeGuard, TreeLoop, TreeNode


def placed(nodes: tuple[TreeNode, ...], values: Mapping[str, Affine]) -> tuple[TreeNode, ...]:
    """The nodes where the variables have these values.

    Args:
        nodes: of a tree.
        values: expressions over loops around, by variable.
    """
    return tuple(_node(node, values) for node in nodes) if values else nodes


def _node(node: TreeNode, values: Mapping[str, Affine]) -> TreeNode:
    match node:
        case TreeLoop():
            return replace(
                node,
                lowers=tuple(b.substitute(values) for b in node.lowers),
                uppers=tuple(b.substitute(values) for b in node.uppers),
                body=placed(node.body, values),
            )
        case TreeGuard(constraints, body):
            held = tuple(Constraint(c.expr.substitute(values), c.kind) for c in constraints)
            return TreeGuard(held, placed(body, values))
        case Instance(bindings=bindings, time=time):
            own = tuple((v, e.substitute(values)) for v, e in bindings)
            return replace(node, bindings=own, time=tuple(e.substitute(values) for e in time))
        case _:
            assert_never(node)
