"""Replace loop variables in statements and conditions of a region tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dsl.expressions.affine import Affine, Constraint
from qor_gnn.design.region import Access, Op, Statement

Values = Mapping[str, Affine]


def statement_with(statement: Statement, values: Values) -> Statement:
    """The statement with every use of the variables replaced."""
    ops = tuple(_op(op, values) for op in statement.ops)
    return replace(statement, ops=ops, target=_access(statement.target, values))


def constraint_with(constraint: Constraint, values: Values) -> Constraint:
    """The constraint with every use of the variables replaced."""
    return Constraint(constraint.expr.substitute(values), constraint.kind)


def _op(op: Op, values: Values) -> Op:
    return op if op.access is None else replace(op, access=_access(op.access, values))


def _access(access: Access, values: Values) -> Access:
    return Access(access.memory, tuple(i.substitute(values) for i in access.indices))
