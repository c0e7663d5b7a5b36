"""Conditions of ``if``: affine over loop variables, known when the kernel is compiled, or data.

A conjunction or disjunction of both kinds is kept apart: the affine part guards the other, so that
``i > 0 and x[i - 1] > x[i]`` reads nothing in front of ``x``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dsl.expressions import typing, values
from dsl.expressions.affine import Affine, And, Cond, Constraint, Or, negate
from dsl.expressions.expr import CompareOp, Expr, Index, UnaryOp
from dsl.expressions.types import boolean
from dsl.expressions.values import Value
from dsl.frontend.capture import is_number
from dsl.frontend.context import Context
from dsl.frontend.evaluate import compared, comparisons, membership
from dsl.frontend.operands import value
from dsl.frontend.tuples import same_tuples


@dataclass(frozen=True, slots=True)
class DataCond:
    """A condition that depends on data: ``data``, or ``affine and data``, or ``affine or data``.

    ``data`` is a ``u1``. It has a value, and matters, only where ``affine`` leaves it open.
    """

    data: Expr
    affine: Cond | None = None
    is_and: bool = True


Condition = bool | Cond | DataCond


def condition(ctx: Context, node: ast.expr) -> Condition:
    """The condition at ``node``, or its value where it is known.

    As in Python, a number or data holds where it is not zero.

    Raises:
        LanguageError: it is no value of the language.
    """
    match node:
        case ast.BoolOp(op=op, values=nodes):
            is_and = isinstance(op, ast.And)
            parts: list[Cond | DataCond] = []
            for position, n in enumerate(nodes):
                part = _operand(ctx, n, is_first=position == 0)
                if not isinstance(part, bool):
                    parts.append(part)
                elif part is not is_and:  # decided, as in Python
                    return part
            return _joined(is_and, parts)
        case ast.UnaryOp(op=ast.Not()):
            return _opposite(condition(ctx, node.operand))
        case ast.Compare():
            return _compared(ctx, node)
        case _:
            found = value(ctx, node)
            if is_number(found):
                return bool(found)
            if isinstance(found, Affine):
                return values.condition(CompareOp.NE, found, Affine.of(0))
            return _truth(ctx, found, node)


def _operand(ctx: Context, node: ast.expr, *, is_first: bool) -> Condition:
    """An operand of ``and`` and ``or``, of which Python evaluates those behind the first only if need be."""
    ctx.ahead.conditional += not is_first
    try:
        return condition(ctx, node)
    finally:
        ctx.ahead.conditional -= not is_first


def _truth(ctx: Context, found: Value, node: ast.expr) -> Condition:
    """Data as a condition: whether it is not zero."""
    operand = values.operand(found)
    if not isinstance(operand, int | float) and operand.dtype == boolean:
        return DataCond(typing.assigned(operand, boolean, ctx.span(node)))
    return _data(typing.compare(CompareOp.NE, operand, 0, ctx.span(node)))


def _data(found: typing.Operand) -> Condition:
    return bool(found) if isinstance(found, int | float) else DataCond(found)


def _compared(ctx: Context, node: ast.Compare) -> Condition:
    listed = membership(ctx, node)
    if listed is not None:
        return condition(ctx, listed)
    if (same := same_tuples(ctx, node)) is not None:
        return same
    ops = comparisons(ctx, node)
    operands = compared(ctx, node)
    parts: list[Cond | DataCond] = []
    for op, a, b in zip(ops, operands, operands[1:], strict=False):
        part = _link(ctx, op, a, b, node)
        if part is False:
            return False
        if not isinstance(part, bool):
            parts.append(part)
    return _joined(True, parts)


def _link(ctx: Context, op: CompareOp, a: Value, b: Value, node: ast.expr) -> Condition:
    """``a op b``."""
    if is_number(a) and is_number(b):
        return bool(values.compare(op, a, b))
    left, right = values.as_affine(a), values.as_affine(b)
    if left is None or right is None:
        return _data(typing.compare(op, values.operand(a), values.operand(b), ctx.span(node)))
    difference = left - right
    if difference.is_const:
        return bool(values.compare(op, difference.const, 0))
    return values.condition(op, left, right)


def _joined(is_and: bool, parts: list[Cond | DataCond]) -> Condition:
    """The conjunction or disjunction of the parts."""
    if len(parts) < 2:
        return parts[0] if parts else is_and
    affine: list[Cond] = []
    data: list[Expr] = []
    for part in parts:
        if not isinstance(part, DataCond):
            affine.append(part)
        elif part.affine is not None and part.is_and is is_and:
            affine.append(part.affine)
            data.append(part.data)
        else:
            data.append(as_data(part))
    guard = None if not affine else affine[0] if len(affine) == 1 else _of_affine(is_and, affine)
    if not data:
        assert guard is not None
        return guard
    return DataCond(_logical(is_and, data), guard, is_and)


def _opposite(cond: Condition) -> Condition:
    if isinstance(cond, bool):
        return not cond
    if not isinstance(cond, DataCond):
        return negate(cond)
    affine = None if cond.affine is None else negate(cond.affine)
    return DataCond(typing.unary(UnaryOp.NOT, cond.data), affine, not cond.is_and)


def as_data(cond: Cond | DataCond) -> Expr:
    """The condition as one ``u1``; all of it is evaluated."""
    match cond:
        case DataCond(data, affine, is_and):
            return data if affine is None else _logical(is_and, [as_data(affine), data])
        case Constraint(expr, kind):
            op = CompareOp.EQ if kind == "==" else CompareOp.GE
            return typing.compare(op, Index(expr), 0)
        case And(parts) | Or(parts):
            return _logical(isinstance(cond, And), [as_data(p) for p in parts])


def _of_affine(is_and: bool, parts: list[Cond]) -> Cond:
    return And(tuple(parts)) if is_and else Or(tuple(parts))


def _logical(is_and: bool, parts: list[Expr]) -> Expr:
    result: Value = parts[0]
    for part in parts[1:]:
        result = values.logical("and" if is_and else "or", result, part)
    assert isinstance(result, Expr)
    return result
