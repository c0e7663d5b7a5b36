"""Nodes of a program with affine expressions in the place of loop variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dsl.expressions.affine import Affine, map_cond
from dsl.expressions.expr import Access, Const, Expr, Index, Load, map_leaves
from dsl.programs.program import If, Loop, Node, Stmt

Values = Mapping[str, Affine]


def substituted(node: Node, values: Values) -> Node:
    """The node with each variable replaced that has a value; none of them is of a loop inside."""
    match node:
        case Loop(lowers=lowers, uppers=uppers, body=body):
            return replace(
                node,
                lowers=tuple(b.substitute(values) for b in lowers),
                uppers=tuple(b.substitute(values) for b in uppers),
                body=tuple(substituted(n, values) for n in body),
            )
        case If(cond=cond, then=then, orelse=orelse):
            sides = (tuple(substituted(n, values) for n in side) for side in (then, orelse))
            first, second = sides
            cond = map_cond(cond, lambda e: e.substitute(values))
            return replace(node, cond=cond, then=first, orelse=second)
        case Stmt(target=target, value=value):
            target = substituted_access(target, values)
            return replace(node, target=target, value=substituted_value(value, values))


def substituted_access(access: Access, values: Values) -> Access:
    """The access with its subscripts over other variables."""
    return replace(
        access,
        indices=tuple(i.substitute(values) for i in access.indices),
        limits=tuple((e.substitute(values), n) for e, n in access.limits),
    )


def substituted_value(value: Expr, values: Values) -> Expr:
    """The expression over other variables."""

    def leaf(expr: Const | Load | Index) -> Expr:
        match expr:
            case Load(access=access):
                return replace(expr, access=substituted_access(access, values))
            case Index(affine=affine):
                return replace(expr, affine=affine.substitute(values))
            case _:
                return expr

    return map_leaves(value, leaf)
